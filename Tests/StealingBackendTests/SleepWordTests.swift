import Scheduling
import Testing

@testable import StealingBackend

@Suite struct SleepWordTests {
  private func word(searching: Int = 0, sleeping: Int = 0, blocked: Int = 0, live: Int) -> SleepWord {
    SleepWord(
      bits: UInt64(searching) * SleepWord.oneSearching + UInt64(sleeping) * SleepWord.oneSleeping
        + UInt64(blocked) * SleepWord.oneBlocked + UInt64(live) * SleepWord.oneLive)
  }

  @Test func `the four counts do not touch one another, up to the most threads there can be`() {
    let counts = [(1, 2, 3, 4), (4096, 0, 0, 4096), (0, 4096, 0, 4096), (7, 0, 4096, 9)]
    for (searching, sleeping, blocked, live) in counts {
      let word = word(searching: searching, sleeping: sleeping, blocked: blocked, live: live)
      #expect(word.searching == searching)
      #expect(word.sleeping == sleeping)
      #expect(word.blocked == blocked)
      #expect(word.live == live)
      #expect(word.active == live - sleeping - blocked)
    }
  }

  @Test func `subtracting is adding the two's complement, also together with an addition`() {
    let before = word(searching: 1, sleeping: 2, blocked: 1, live: 6)
    let asleep = SleepWord(bits: before.bits &+ (SleepWord.oneSleeping &- SleepWord.oneSearching))
    #expect(asleep == word(searching: 0, sleeping: 3, blocked: 1, live: 6))
    let ended = SleepWord(bits: asleep.bits &+ (0 &- SleepWord.oneSleeping &- SleepWord.oneLive))
    #expect(ended == word(searching: 0, sleeping: 2, blocked: 1, live: 5))
    let unblocked = SleepWord(bits: ended.bits &+ (0 &- SleepWord.oneBlocked))
    #expect(unblocked == word(searching: 0, sleeping: 2, blocked: 0, live: 5))
  }

  @Test func `a new job calls for a thread when nobody searches and a place is free`() {
    for live in 0...4 {
      for sleeping in 0...live {
        for blocked in 0...(live - sleeping) {
          for searching in 0...(live - sleeping - blocked) {
            let word = word(searching: searching, sleeping: sleeping, blocked: blocked, live: live)
            for limit in 1...4 {
              let expected: Reaction =
                searching > 0 ? .nothing : live - sleeping - blocked < limit ? .activate : .busy
              #expect(word.reaction(limit: limit) == expected)
            }
          }
        }
      }
    }
  }

  @Test func `jobs that come together call for a searcher for every eight, up to four, while there are places`() {
    let wanted = [1: 1, 7: 1, 8: 2, 15: 2, 16: 3, 24: 4, 1_000: 4]
    for (jobs, searchers) in wanted {
      #expect(StealingStrategy().waking.searchersWanted(jobs: jobs, workers: 8, sleeping: 0) == searchers)
      for searching in 0...5 {
        let now = word(searching: searching, sleeping: 8, live: 8 + searching)
        for limit in 1...8 {
          let expected: Reaction =
            searching >= searchers ? .nothing : searching < limit ? .activate : .busy
          #expect(now.reaction(limit: limit, wanted: searchers) == expected)
        }
      }
    }
  }

  @Test func `one may always search, and at most half of the workers do`() {
    for workers in 1...9 {
      let most = (0...workers).filter { word(searching: $0, live: workers).maySearch(workerCount: workers) }.count
      #expect(most == max(1, (workers + 1) / 2))
      #expect(word(live: workers).maySearch(workerCount: workers))
    }
  }

  @Test func `a thread is the only one awake when all others sleep; who blocks is awake`() {
    #expect(word(live: 1).isOnlyOneAwake)
    #expect(word(searching: 1, sleeping: 3, live: 4).isOnlyOneAwake)
    #expect(!word(live: 2).isOnlyOneAwake)
    #expect(!word(sleeping: 1, blocked: 1, live: 3).isOnlyOneAwake)
    #expect(!word(sleeping: 1, live: 1).isOnlyOneAwake)
  }

  @Test func `threads beyond the workers that do not block are surplus`() {
    #expect(!word(live: 2).hasSurplus(workerCount: 2))
    #expect(word(live: 3).hasSurplus(workerCount: 2))
    #expect(!word(blocked: 1, live: 3).hasSurplus(workerCount: 2))
    #expect(word(sleeping: 3, live: 3).hasSurplus(workerCount: 2))
  }
}
