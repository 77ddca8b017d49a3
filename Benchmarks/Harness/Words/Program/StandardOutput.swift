import Glibc

/// Who is at the other end of standard output. CSV is for a program or a file; a person who reads a log wants the
/// table.
package enum StandardOutput: Hashable, Sendable {
  case terminal
  /// A file or a program takes the rows.
  case rows
  /// Standard error goes to the same file or pipe, or continuous integration logs the pipe: a person reads it.
  case log
  case closed

  /// - Parameter isContinuousIntegration: whether the system that runs the command logs its pipes, as `CI=true` says.
  package init(output: Int32 = STDOUT_FILENO, error: Int32 = STDERR_FILENO, isContinuousIntegration: Bool = Self.isCI) {
    var outputStatus = stat()
    // A closed standard output has been replaced by something that cannot be written.
    guard fstat(output, &outputStatus) == 0, fcntl(output, F_GETFL) & O_ACCMODE != O_RDONLY else {
      self = .closed
      return
    }
    guard isatty(output) == 0 else {
      self = .terminal
      return
    }
    var errorStatus = stat()
    let isSame =
      fstat(error, &errorStatus) == 0 && outputStatus.st_dev == errorStatus.st_dev
      && outputStatus.st_ino == errorStatus.st_ino
    let isLogged = isContinuousIntegration && outputStatus.st_mode & S_IFMT == S_IFIFO
    self = isSame || isLogged ? .log : .rows
  }

  package static var isCI: Bool { getenv("CI").map { String(cString: $0) } == "true" }

  /// Takes the numbers of closed standard streams, so that no file that is opened later gets one of them and then what
  /// is written to the stream. Writing to a closed standard output still fails; what is said on a closed standard error
  /// is lost.
  package static func keepNumbers() {
    for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(number, F_GETFD) < 0 {
      // The lowest free number is this one, because the lower ones are in use.
      _ = open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
