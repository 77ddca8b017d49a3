import Glibc

/// Ctrl-C, SIGTERM and the end of the terminal (SIGHUP) ask the run to stop. Finished results are kept.
package enum Interrupt {
  /// The signal handler writes this word, so the word is plain memory that exists before the handler does.
  nonisolated(unsafe) private static let requests: UnsafeMutablePointer<sig_atomic_t> = {
    let word = UnsafeMutablePointer<sig_atomic_t>.allocate(capacity: 1)
    word.initialize(to: 0)
    return word
  }()

  package static var isRequested: Bool { requests.pointee != 0 }

  /// From now on, the first signal asks the run to stop, and a second signal ends the process at once. A second SIGHUP
  /// does not: the shell and the kernel both send one when a terminal ends. Under `nohup` the terminal may end, and the
  /// run goes on.
  package static func install() {
    requests.pointee = 0
    for number in [SIGINT, SIGTERM, SIGHUP] where number != SIGHUP || !isIgnored(SIGHUP) {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = noteInterrupt
      sigaction(number, &action, nil)
    }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  fileprivate static func note(_ number: Int32) {
    if requests.pointee != 0, number != SIGHUP { _exit(128 + number) }
    requests.pointee = 1
  }
}

private func noteInterrupt(_ number: Int32) { Interrupt.note(number) }
