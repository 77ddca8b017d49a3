/// The lists of a multi-queue that a thread has chosen, and for how many jobs more the choice holds.
package struct ListChoice: Sendable {
  private var add = 0
  private var addsLeft = 0
  private var take = (first: 0, second: 0)
  private var takesLeft = 0

  package init() {}

  /// Chooses the list for the next job that the thread adds.
  /// - Parameter random: gives a random number of a list.
  package mutating func nextToAdd(stickiness: Int, random: () -> Int) -> Int {
    if addsLeft == 0 { (add, addsLeft) = (random(), stickiness) }
    addsLeft -= 1
    return add
  }

  /// Chooses the list from which the thread takes its next job: the better one of two.
  /// - Parameters:
  ///   - random: gives a random number of a list.
  ///   - state: gives, of a list, the level of its most urgent job (-1 for an empty list), and its number of jobs.
  package mutating func nextToTake(
    stickiness: Int, random: () -> Int, state: (Int) -> (level: Int, jobs: Int)
  ) -> Int {
    if takesLeft == 0 { (take, takesLeft) = ((random(), random()), stickiness) }
    takesLeft -= 1
    return StealingStrategy.Priorities.takesFirst(state(take.first), state(take.second)) ? take.first : take.second
  }

  /// Drops the choice: the list that it gave had no job.
  package mutating func dropTake() { takesLeft = 0 }
}
