import Glibc

/// Ctrl-C and a polite kill ask the run to stop; what was finished is kept.
package enum Interrupt {
  /// Written by the signal handler, so a plain word that exists before the handler does.
  nonisolated(unsafe) private static let requests: UnsafeMutablePointer<sig_atomic_t> = {
    let word = UnsafeMutablePointer<sig_atomic_t>.allocate(capacity: 1)
    word.initialize(to: 0)
    return word
  }()

  package static var isRequested: Bool { requests.pointee != 0 }

  /// From now on the first signal asks, and a second one ends the process at once.
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
