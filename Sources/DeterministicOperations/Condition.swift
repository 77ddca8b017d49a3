/// What a waiter waits for.
enum Condition {
  /// Nothing but its turn.
  case turn
  case holds(() -> Bool)
  /// A virtual time, in nanoseconds.
  case time(Int64)
  /// That nothing is left to happen up to a virtual time; nil: at all.
  case rest(upTo: Int64?)

  /// Whether the clock may go on by itself for a guest that waits for this.
  var allowsTime: Bool {
    switch self {
    case .turn, .rest(upTo: .some): false
    case .holds, .time, .rest(upTo: nil): true
    }
  }
}

extension Condition {
  /// For the record of steps.
  var inWords: String {
    switch self {
    case .turn: "lets others go on"
    case .holds: "waits"
    case .time(let time): "goes on at \(Duration.nanoseconds(time).inMilliseconds)"
    case .rest: "waits until nothing is left"
    }
  }
}
