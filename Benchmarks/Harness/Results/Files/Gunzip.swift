import FoundationEssentials
import Glibc
import HarnessMeasuring
import HarnessWords

/// Unpacks a result that was packed with gzip, with the program `gzip`.
package enum Gunzip {
  package static func isPacked(_ path: String) -> Bool { path.hasSuffix(".gz") }

  /// The most bytes that a result may have: some ten times the largest run.
  private static let limit = 512 << 20

  package static func bytes(_ path: String, program: String = "gzip", limit: Int = limit) throws -> Data {
    let (outcome, output) = ProcessRunner.capture(program, ["-dc", "--", path], timeout: 300, limit: limit)
    switch outcome.ending {
    case .exited(0): return Data(output)
    case .notStarted(ENOENT):
      throw Complaint(.unavailable, "\(path) is packed, and there is no \(program) here to unpack it: install gzip")
    case .printedTooMuch:
      throw Complaint(.badInput, "\(path) has more than \(limit >> 20) MiB unpacked, which no result of a run has")
    case .exited: throw Complaint(.badInput, "\(path): not a whole gzip file")
    case let ending: throw Complaint(.unavailable, "\(path) is not unpacked: \(program) \(ending.description)")
    }
  }
}
