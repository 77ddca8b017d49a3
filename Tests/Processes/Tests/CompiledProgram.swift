import Foundation

/// A program that a test compiles, with the modules and object files that the tests were built from.
struct CompiledProgram: ~Copyable {
  private let folder: String

  /// - Parameters:
  ///   - text: the source.
  ///   - options: of swiftc.
  init(_ text: String, options: String = "") throws {
    folder = NSTemporaryDirectory() + "opbench-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try text.write(toFile: "\(folder)/Program.swift", atomically: false, encoding: .utf8)
    let compiler = try Scenario(
      shell: """
        cd '\(try Scenario.buildFolder())' && swiftc -swift-version 6 -warnings-as-errors -I Modules \\
          -Xcc -fmodule-map-file=CPlatform.build/module.modulemap \(options) \\
          '\(folder)/Program.swift' -o '\(folder)/program' \\
          $(find CPlatform.build Primitives.build Scheduling.build OperationCore.build Operations.build *Backend.build \\
            -name '*.o')
        """)
    guard compiler.exitCode == 0 else { throw DoesNotCompile(description: compiler.output) }
  }

  struct DoesNotCompile: Error, CustomStringConvertible {
    let description: String
  }

  func run() throws -> Scenario { try Scenario(shell: "exec '\(folder)/program'") }

  deinit { try? FileManager.default.removeItem(atPath: folder) }
}
