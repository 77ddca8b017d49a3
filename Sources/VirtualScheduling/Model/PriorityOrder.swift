/// Chooses among the events of an instant by priorities of chance, one for each lane, and lowers some of them at steps
/// of chance. This is PCT: Burckhardt and others, "A randomized scheduler with probabilistic guarantees of finding
/// bugs", ASPLOS 2010. A defect that needs one task to be held up for long shows more often so than by even choices.
///
/// PCT draws the steps evenly from the length of a run. That length is not known here, and two runs of a seed must
/// choose alike. So the logarithm of a step is drawn evenly. PCT's threads stop where they wait; a task that polls does
/// not. So a lane that was chosen often in a row is lowered, too. So is each thousandth one: tasks may poll in turns.
package struct PriorityOrder: Sendable {
  private var priorities: [UInt32: Int] = [:]
  /// The steps at which the chosen lane is lowered, the next one last.
  private var changes: [Int]
  private var step = 0
  /// The lowest priority so far.
  private var lowest = 0
  private var latest: (lane: UInt32, count: Int) = (0, 0)

  private static let longestRun = 100
  private static let longestWait = 1_000
  /// The changes lie before the step 2 to the power of this.
  private static let doublings = 14

  /// - Parameter changes: how often a priority is lowered.
  package init(changes: Int, _ choices: inout VirtualChoices) {
    self.changes = []
    for _ in 0..<changes {
      let first = 1 << choices.pick(below: Self.doublings)
      self.changes.append(first + choices.pick(below: first))
    }
    self.changes.sort(by: >)
  }

  /// The event with the highest priority, and the oldest of those. O(events).
  mutating func choose(among events: ArraySlice<Event>, _ choices: inout VirtualChoices) -> Int {
    var best: (index: Int, lane: UInt32, priority: Int) = (0, 0, .min)
    var isAlone = true
    for (index, event) in events.enumerated() {
      let priority = priority(of: event.lane, &choices)
      isAlone = isAlone && (index == 0 || event.lane == best.lane)
      if priority > best.priority { best = (index, event.lane, priority) }
    }
    step += 1
    latest = latest.lane == best.lane ? (best.lane, isAlone ? 0 : latest.count + 1) : (best.lane, 1)
    let isChange = changes.last == step
    while changes.last == step { changes.removeLast() }
    if isChange || latest.count == Self.longestRun || step.isMultiple(of: Self.longestWait) {
      lowest -= 1
      priorities[best.lane] = lowest
      latest.count = 0
    }
    return best.index
  }

  private mutating func priority(of lane: UInt32, _ choices: inout VirtualChoices) -> Int {
    if let known = priorities[lane] { return known }
    let new = 1 + choices.pick(below: 1 << 30)
    priorities[lane] = new
    return new
  }
}
