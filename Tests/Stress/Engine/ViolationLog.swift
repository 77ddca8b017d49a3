import TestSupport

/// What went wrong in a round, as far as threads noticed it while it ran. Keeps the first few: one defect causes many.
final class ViolationLog: Sendable {
  private let entries = Monitor<[String]>([])
  private static let limit = 20

  func report(_ what: String) {
    entries.with { if $0.count < Self.limit { $0.append(what) } }
  }

  func require(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { report(what()) }
  }

  var all: [String] { entries.with { $0 } }
}
