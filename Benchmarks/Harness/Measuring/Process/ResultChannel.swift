import Glibc
import HarnessWords

/// The descriptor to which a measuring process writes its lines: the standard output with which the process was
/// started.
///
/// From the first moment on, what else is written to standard output goes to standard error instead. So nothing that a
/// benchmark prints, or a library or another program that the benchmark uses, comes between the lines.
package struct ResultChannel {
  private let descriptor: Int32

  /// Far above the descriptors that a benchmark opens, so that no file of a benchmark gets the number when the
  /// benchmark closes what it did not open. A process with a low limit gets a lower number.
  private static let lowest: [Int32] = [1_000, 100, 3]

  package init() throws {
    // Programs that a benchmark starts do not get the descriptor.
    let copy = Self.lowest.lazy.map { fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, $0) }.first { $0 >= 0 }
    guard let copy, dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else {
      throw Complaint(.inputOutput, "there is no descriptor for the results: \(String(cString: strerror(errno)))")
    }
    descriptor = copy
  }

  package func write(_ lines: [String], name: String) throws {
    try DescriptorOutput.write(lines.map { "\($0)\n" }.joined(), to: descriptor, name: name)
  }
}
