import Testing

@testable import VirtualScheduling

@Suite struct VirtualChoicesTests {
  @Test func recordedChoicesCanBeReplayed() {
    var choices = VirtualChoices(seed: 5, records: true)
    let picks = (1...100).map { choices.pick(below: $0) }
    var again = VirtualChoices(replaying: choices.taken)
    #expect((1...100).map { again.pick(below: $0) } == picks)
    // A choice with one possibility is none.
    #expect(choices.taken.count == 99)
  }
}
