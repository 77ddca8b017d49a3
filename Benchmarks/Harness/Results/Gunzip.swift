import FoundationEssentials
import Glibc

/// Unpacks a result that was packed with gzip, with the program `gzip`.
enum Gunzip {
  static func isPacked(_ path: String) -> Bool { path.hasSuffix(".gz") }

  static func bytes(_ path: String, program: String = "gzip") throws -> Data {
    let (outcome, output) = ProcessRunner.capture(program, ["-dc", "--", path], timeout: 300)
    switch outcome.ending {
    case .exited(0): return Data(output)
    case .notStarted(ENOENT):
      throw Complaint(.unavailable, "\(path) is packed, and there is no \(program) here to unpack it: install gzip")
    case .exited: throw Complaint(.badInput, "\(path): not a whole gzip file")
    case let ending: throw Complaint(.unavailable, "\(path) is not unpacked: \(program) \(ending.description)")
    }
  }
}
