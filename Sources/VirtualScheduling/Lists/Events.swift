/// What happens at an instant of virtual time.
struct Event {
  enum Kind: UInt8 {
    /// A worker looks for its next job.
    case look
    /// A worker that watches the lists has noticed a job.
    case notice
    /// The time of a search is over.
    case searchEnds
    /// A worker begins the job that it has taken.
    case begin
    /// The body that a worker runs is over.
    case bodyEnds
    /// The monitor looks whether queued successors need a thread.
    case monitor
    /// A timer of the caller's.
    case timer
  }

  var time: Int64
  /// The order in which events were scheduled: the plain order within an instant.
  var number: UInt64
  var kind: Kind
  /// The worker, or the number of the timer.
  var subject: Int
  /// For an event of a worker: its number among the events of that worker. Only the latest counts. For a timer: its
  /// lane.
  var epoch: UInt32

  /// What the event is a step of: a worker, or what the caller says of a timer.
  var lane: UInt32 { kind == .timer ? epoch : 1 << 31 | UInt32(truncatingIfNeeded: subject) }

  func isBefore(_ other: Event) -> Bool {
    time != other.time ? time < other.time : number < other.number
  }
}

/// Events by time: a binary heap. Each change is O(log n) for n events.
struct EventHeap {
  private var items: [Event] = []

  var first: Event? { items.first }

  mutating func push(_ event: Event) {
    var index = items.count
    items.append(event)
    while index > 0 {
      let parent = (index - 1) / 2
      guard event.isBefore(items[parent]) else { break }
      items[index] = items[parent]
      index = parent
    }
    items[index] = event
  }

  mutating func popFirst() -> Event? {
    guard let first = items.first else { return nil }
    let last = items.removeLast()
    if items.isEmpty { return first }
    var index = 0
    while true {
      var child = 2 * index + 1
      guard child < items.count else { break }
      if child + 1 < items.count, items[child + 1].isBefore(items[child]) { child += 1 }
      guard items[child].isBefore(last) else { break }
      items[index] = items[child]
      index = child
    }
    items[index] = last
    return first
  }
}

/// The events of the present instant. The choice 0 is always the oldest; each call O(1), amortised.
struct PresentEvents {
  private var items: [Event] = []
  private var head = 0

  var count: Int { items.count - head }
  var isEmpty: Bool { head == items.count }
  var first: Event? { isEmpty ? nil : items[head] }
  /// All of them, the one with the choice 0 first.
  var all: ArraySlice<Event> { items[head...] }

  mutating func append(_ event: Event) { items.append(event) }

  /// Takes the event at `choice`, from 0 to `count - 1`. The oldest event takes its place.
  mutating func take(_ choice: Int) -> Event {
    let event = items[head + choice]
    items[head + choice] = items[head]
    head += 1
    if head == items.count {
      items.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, 2 * head >= items.count {
      items.removeFirst(head)
      head = 0
    }
    return event
  }
}
