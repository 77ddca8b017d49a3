import FoundationEssentials
import Glibc
import HarnessMeasuring
import HarnessWords

/// A folder that is gone when the test is over.
package final class TemporaryFolder {
  package let path: String

  package init() {
    path = FileManager.default.temporaryDirectory.path + "/opbench-tests-\(UUID().uuidString)"
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package var contents: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? [] }

  /// No program that another thread starts meanwhile inherits the open file: a script that one of them holds open for
  /// writing could not be started while that one runs.
  package func write(_ text: String, to name: String) -> String {
    let file = "\(path)/\(name)"
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    precondition(descriptor >= 0, "\(file) cannot be written")
    defer { close(descriptor) }
    try! DescriptorOutput.write(text, to: descriptor, name: file)
    return file
  }

  /// Writes a program that other programs start at once. A child that another thread forks meanwhile has this process's
  /// files open for a moment, and a file that is open for writing cannot be started. So another process writes the
  /// program.
  @discardableResult
  package func writeProgram(_ script: String, to name: String) -> String {
    let text = write(script, to: "\(name).text")
    let place = "\(path)/\(name)"
    _ = ProcessRunner.run(
      "sh", ["-c", "rm -f \"$1\" && cp \"$0\" \"$1\" && chmod +x \"$1\" && rm \"$0\"", text, place], timeout: 60)
    return place
  }

  package func read(_ name: String) -> String? {
    FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
  }
}
