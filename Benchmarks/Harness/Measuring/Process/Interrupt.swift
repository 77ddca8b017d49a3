import Glibc

/// Ctrl-C and SIGTERM ask the run to stop. Finished results are kept.
package enum Interrupt {
  /// The signal handler writes this word, so the word is plain memory that exists before the handler does.
  nonisolated(unsafe) private static let requests: UnsafeMutablePointer<sig_atomic_t> = {
    let word = UnsafeMutablePointer<sig_atomic_t>.allocate(capacity: 1)
    word.initialize(to: 0)
    return word
  }()

  package static var isRequested: Bool { requests.pointee != 0 }

  /// From now on, the first signal asks the run to stop, and a second signal ends the process at once.
  package static func install() {
    requests.pointee = 0
    for number in [SIGINT, SIGTERM] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = noteInterrupt
      sigaction(number, &action, nil)
    }
  }

  fileprivate static func note(_ number: Int32) {
    if requests.pointee != 0 { _exit(128 + number) }
    requests.pointee = 1
  }
}

private func noteInterrupt(_ number: Int32) { Interrupt.note(number) }
