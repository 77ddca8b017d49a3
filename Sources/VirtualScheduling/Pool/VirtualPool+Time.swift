// The virtual clock, timers, and the events that are due.

extension VirtualPool {
  /// When something happens next; nil for never. O(1), amortised.
  package var nextTime: Int64? {
    dropStale()
    return present.isEmpty ? heap.first?.time : now
  }

  /// Goes on to the next event that is the caller's affair.
  /// - Parameter limit: the latest time to which the clock may go.
  /// - Returns: nil when nothing happens by itself up to then. The clock stays at the last event.
  package func next(until limit: Int64 = .max) -> VirtualStep? {
    while let time = nextTime, time <= limit {
      if present.isEmpty {
        now = time
        while let event = heap.first, event.time == time {
          _ = heap.popFirst()
          present.append(event)
        }
      }
      let event = present.take(order?.choose(among: present.all, &choices) ?? choices.pick(below: present.count))
      if isStale(event) { continue }
      if let step = handle(event) { return step }
    }
    return nil
  }

  /// Sets the clock forward. Traps when an event is due before that time, or when the time is past.
  package func advance(to time: Int64) {
    precondition(time >= now, "a virtual clock does not go back")
    precondition(nextTime.map { $0 >= time } ?? true, "an event is due before \(time)")
    now = time
  }

  /// A timer that `next` gives when it is due.
  /// - Parameter lane: what the timer is a step of, below 2^31: for an order by priorities.
  /// - Returns: the number of the timer.
  package func schedule(at time: Int64, lane: UInt32 = 0) -> Int {
    timerCount += 1
    timers.insert(timerCount)
    push(Event(time: max(now, time), number: 0, kind: .timer, subject: timerCount, epoch: lane))
    return timerCount
  }

  /// Cancels a timer. Does nothing when it was due already.
  package func cancel(timer: Int) { timers.remove(timer) }

  /// An event of a worker takes the place of the worker's earlier one.
  func schedule(_ kind: Event.Kind, _ worker: Int, at time: Int64) {
    workers[worker].epoch &+= 1
    push(Event(time: time, number: 0, kind: kind, subject: worker, epoch: workers[worker].epoch))
  }

  func push(_ event: Event) {
    var event = event
    eventCount += 1
    event.number = eventCount
    if event.time <= now { present.append(event) } else { heap.push(event) }
  }

  private func isStale(_ event: Event) -> Bool {
    switch event.kind {
    case .monitor: false
    case .timer: !timers.contains(event.subject)
    default: workers[event.subject].epoch != event.epoch
    }
  }

  private func dropStale() {
    while let event = present.first, isStale(event) { _ = present.take(0) }
    guard present.isEmpty else { return }
    while let event = heap.first, isStale(event) { _ = heap.popFirst() }
  }

  private func handle(_ event: Event) -> VirtualStep? {
    switch event.kind {
    case .timer:
      timers.remove(event.subject)
      return .timer(event.subject)
    case .begin:
      let worker = event.subject
      workers[worker].state = .running
      workers[worker].counts.jobs += 1
      return .run(worker: worker, job: workers[worker].job.word)
    case .bodyEnds: return .ended(worker: event.subject, job: workers[event.subject].job.word)
    case .monitor:
      begin(-1)
      lookAsMonitor()
    case .look, .notice, .searchEnds:
      begin(event.subject)
      workers[event.subject].owed = 0
      spent = 0
      switch event.kind {
      case .look: look(event.subject)
      case .notice: notice(event.subject)
      default: searchEnds(event.subject)
      }
    }
    return nil
  }

}
