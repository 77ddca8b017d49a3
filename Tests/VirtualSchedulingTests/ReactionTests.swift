import Scheduling
import Testing

@testable import StealingBackend
@testable import VirtualScheduling

/// What a new job calls for follows from how many threads search and are active. Both pools count them alike.
@Suite struct ReactionTests {
  @Test func aVirtualPoolReactsAsTheSleepWordSays() {
    for workers in 1...4 {
      for sleeping in 0...workers {
        for searching in 0...(workers - sleeping) {
          for wanted in 1...4 {
            let pool = VirtualPool(
              workers: workers, strategy: .stealing(.init()), choices: VirtualChoices(seed: 1), isWarm: true)
            for _ in sleeping..<workers { _ = pool.nextSleeper() }
            pool.searching = searching
            let word = SleepWord(
              bits: UInt64(searching) * SleepWord.oneSearching + UInt64(sleeping) * SleepWord.oneSleeping
                + UInt64(workers) * SleepWord.oneLive)
            #expect("\(pool.reaction(wanted: wanted))" == "\(word.reaction(limit: workers, wanted: wanted))")
          }
        }
      }
    }
  }
}
