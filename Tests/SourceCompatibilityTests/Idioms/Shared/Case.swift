/// One generated case: which members a class overrides, and how; where its operation runs; when the operation is
/// cancelled.
struct Case: Sendable {
  enum Start: String, CaseIterable { case inherited, own, callsSuper }
  enum States: String, CaseIterable { case inherited, executing, finished, both }
  enum Posting: String, CaseIterable { case around, before, after, never }
  enum End: String, CaseIterable { case inMain, later }
  enum Cancel: String, CaseIterable { case inherited, superThenEnd, guarded, notesReason, empty }
  enum Ready: String, CaseIterable { case inherited, posted, waits }
  enum Place: String, CaseIterable { case queue, none, two }
  enum Cancelled: String, CaseIterable { case no, before, beforeAll, executing, executingAll }

  var start = Start.inherited
  var states = States.inherited
  var posting = Posting.around
  var end = End.inMain
  var cancel = Cancel.inherited
  var ready = Ready.inherited
  var place = Place.queue
  var cancelled = Cancelled.no
  var isAsynchronous = false

  /// The case that follows from a number: the same on both sides.
  init(seed: UInt64) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1
    func next(_ count: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int((state >> 33) % UInt64(count))
    }
    func pick<Value: CaseIterable>(_ type: Value.Type) -> Value where Value.AllCases == [Value] {
      type.allCases[next(type.allCases.count)]
    }
    for _ in 0..<8 { _ = next(2) }
    start = pick(Start.self)
    states = pick(States.self)
    posting = pick(Posting.self)
    end = pick(End.self)
    cancel = pick(Cancel.self)
    ready = pick(Ready.self)
    place = pick(Place.self)
    cancelled = pick(Cancelled.self)
    isAsynchronous = next(2) == 1
    // What has no meaning is left out, so that a case says nothing that the class does not do.
    if states == .inherited { posting = .never }
    if states == .inherited || states == .executing { end = .inMain }
    // A property that is read while it changes without a post, or after its post, is a race of the class's own.
    if posting == .before || posting == .never, start == .own || end == .later {
      posting = states == .inherited ? .never : .after
    }
    if place == .none && ready == .waits { ready = .posted }
    // All are cancelled while one ends: whether the dependent is cancelled first is a race on Foundation (row 40 says
    // that it is, here). So the dependent is in another queue.
    if cancelled == .executingAll && cancel == .superThenEnd && place == .queue { place = .two }
    if place == .none && (cancelled == .beforeAll || cancelled == .executingAll) { cancelled = .no }
  }

  var text: String {
    "start=\(start) states=\(states) posting=\(posting) end=\(end) cancel=\(cancel) ready=\(ready) place=\(place) "
      + "cancelled=\(cancelled) asynchronous=\(isAsynchronous)"
  }
}
