import TestSupport

/// A thread that does what is handed to it, in order: one for many programs, so that none starts a thread of its own.
public final class Helper: Sendable {
  private struct Mail {
    var tasks: [@Sendable () -> Void] = []
    var isClosed = false
  }

  private let mail = Monitor(Mail())

  public init() {
    startThread { [mail] in
      while true {
        _ = mail.wait(seconds: 3_600) { !$0.tasks.isEmpty || $0.isClosed }
        let tasks = mail.with { mail in
          defer { mail.tasks = [] }
          return mail.tasks
        }
        if tasks.isEmpty, mail.value.isClosed { return }
        for task in tasks { task() }
      }
    }
  }

  func post(_ task: @escaping @Sendable () -> Void) { mail.with { $0.tasks.append(task) } }

  public func close() { mail.with { $0.isClosed = true } }
}
