/// One step of a deterministic run: what happened, where, and when.
///
/// Two runs with the same seed have the same steps. `description` is one line, such as
/// `2.5 ms, worker 1: begins load`.
public struct DeterministicStep: Hashable, Sendable, CustomStringConvertible {
  /// The virtual time since the backend was made.
  public let time: Duration
  /// The virtual worker, from 0; nil for blocks of timers and for threads outside.
  public let worker: Int?
  /// What happened, in a few words. An operation is named by its `name`, or else by its class.
  public let what: String

  public var description: String {
    let place = worker.map { "worker \($0)" } ?? "beside the workers"
    return "\(time.inMilliseconds), \(place): \(what)"
  }
}

extension Duration {
  /// Such as `2.5 ms`.
  var inMilliseconds: String {
    let nanoseconds = wholeNanoseconds
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    if rest == 0 { return "\(whole) ms" }
    var digits = String(rest)
    digits = String(repeating: "0", count: 6 - digits.count) + digits
    while digits.last == "0" { digits.removeLast() }
    return "\(whole).\(digits) ms"
  }

  /// Rounded up. A time beyond `VirtualTime.last` is that time.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    if seconds.magnitude >= UInt64(VirtualTime.last) / 1_000_000_000 {
      return seconds < 0 ? -VirtualTime.last : VirtualTime.last
    }
    return seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
  }
}

/// Times in nanoseconds since the backend was made.
enum VirtualTime {
  /// The clock goes no further, which is 146 years: the pool counts on from here without an overflow.
  static let last = Int64.max / 2

  /// The time so much later than `now`.
  static func after(_ now: Int64, _ delay: Int64) -> Int64 {
    delay < last - now ? now + delay : max(now, last)
  }
}

/// The steps so far, where somebody wants them.
struct StepRecords {
  let isOn: Bool
  private(set) var steps: [DeterministicStep] = []

  init(isOn: Bool) { self.isOn = isOn }

  mutating func add(_ time: Int64, _ strand: Strand?, _ what: @autoclosure () -> String) {
    guard isOn else { return }
    steps.append(DeterministicStep(time: .nanoseconds(time), worker: strand?.worker, what: what()))
  }
}
