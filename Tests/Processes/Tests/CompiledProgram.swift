import Foundation

/// A program that a test compiles and runs, with the modules and object files that the tests were built from.
struct CompiledProgram: ~Copyable {
  private let path = NSTemporaryDirectory() + "opbench-program-" + UUID().uuidString

  init(_ text: String, options: String = "") throws {
    // Those that another program is linked with: a folder of a module may hold files of sources that are gone.
    let objects = "$(grep -v /OperationsIdioms.build/ OperationsIdioms.product/Objects.LinkFileList)"
    let compiler = try Self.compile(text, "-warnings-as-errors \(options) \(objects) -o '\(path)'")
    guard compiler.exitCode == 0 else { throw DoesNotCompile(description: compiler.output) }
  }

  struct DoesNotCompile: Error, CustomStringConvertible {
    let description: String
  }

  /// - Parameter options: of swiftc. Files are named as in the folder of the tests' build.
  static func compile(_ text: String, _ options: String) throws -> Scenario {
    try Scenario(
      shell: """
        cd '\(Scenario.buildFolder())'
        swiftc -swift-version 6 -I Modules -Xcc -fmodule-map-file=CPlatform.build/module.modulemap \(options) - <<'END'
        \(text)
        END
        """)
  }

  func run() throws -> Scenario { try Scenario(shell: "exec '\(path)'") }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
