import Glibc
import Harness

/// Runs a request in the program of a peer.
public struct PeerLauncher: Sendable {
  private let programs: PeerPrograms

  public init(_ programs: PeerPrograms) { self.programs = programs }

  /// Nil when the subject is not a peer that is built.
  public func launch(_ request: MeasureRequest, environment: [String: String], timeout: Double) -> ProcessOutcome? {
    guard let program = programs.program(request.subject) else { return nil }
    do {
      let translated = try PeerRequest(request)
      guard let graph = translated.graph else {
        return ProcessRunner.run(program, translated.arguments, environment: environment, timeout: timeout)
      }
      let file = try Self.temporary(graph)
      defer { unlink(file) }
      return ProcessRunner.run(
        program, translated.arguments + ["graph=\(file)"], environment: environment, timeout: timeout)
    } catch {
      return ProcessOutcome(
        ending: .exited(0), lines: [ResultLine.failure("\(error)").text], lastWords: nil, nanoseconds: 0)
    }
  }

  private static func temporary(_ text: String) throws -> String {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var name = Array("\(folder)/opbench-graph-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard descriptor >= 0 else {
      throw Complaint(.cannotCreate, "cannot write a graph into \(folder): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    try ResultFiles.write(text, to: descriptor, name: path)
    return path
  }
}
