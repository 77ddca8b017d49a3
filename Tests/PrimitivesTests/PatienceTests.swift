import Primitives
import Testing

/// When a thread looks longer for a job: the decisions, without a clock.
@Suite struct PatienceTests {
  /// A search that lasts beyond the short time.
  /// - Returns: whether it went on; then `finds` says whether it found a job.
  private func searchLate(_ patience: inout Patience, finds: Bool) -> Bool {
    let goesOn = patience.goesOn()
    if goesOn, finds { patience.found(late: true) }
    return goesOn
  }

  private func searchShortly(_ patience: inout Patience, times: Int) {
    for _ in 0..<times { patience.found(late: false) }
  }

  @Test func `at first every eighth search that found nothing goes on`() {
    var patience = Patience()
    let first = (1...8).map { _ in searchLate(&patience, finds: false) }
    #expect(first == Array(repeating: false, count: 7) + [true])
  }

  @Test func `long searches that find nothing become rarer, and never cease`() {
    var patience = Patience()
    var last = 0
    var gaps: [Int] = []
    for number in 1...100 where searchLate(&patience, finds: false) {
      gaps.append(number - last)
      last = number
    }
    #expect(gaps == [8, 16, 16, 16, 16, 16])
    #expect(patience.interval == Patience.rarest)
  }

  @Test func `one that finds a job, but is followed by waiting, becomes rarer as well`() {
    var patience = Patience()
    for _ in 1...1_000 {
      _ = searchLate(&patience, finds: true)
      searchShortly(&patience, times: Patience.shortSearchesThatHelp - 1)
    }
    #expect(patience.interval == Patience.rarest)
  }

  @Test func `one that is followed by short searches makes every search patient, until it fails`() {
    var patience = Patience()
    while !searchLate(&patience, finds: true) {}
    for _ in 1...10 {
      searchShortly(&patience, times: Patience.shortSearchesThatHelp)
      #expect(searchLate(&patience, finds: true))
      #expect(patience.interval == 1)
    }
    searchShortly(&patience, times: Patience.shortSearchesThatHelp)
    #expect(searchLate(&patience, finds: false))
    // Short searches after a long one in vain are not its merit: they followed a wake-up.
    searchShortly(&patience, times: 100)
    _ = searchLate(&patience, finds: false)
    #expect(patience.interval == 2)
  }

  @Test func `with a fixed number every nth search goes on, and none with 0`() {
    var third = Patience(.init(every: 3))
    #expect((1...7).map { _ in third.goesOn() } == [false, false, true, false, false, true, false])
    var never = Patience(.init(every: 0))
    #expect(!(1...100).contains { _ in never.goesOn() })
    // A search without any time looks once.
    var once = Patience(.init(short: 0, long: 0, every: 0))
    var looks = 0
    #expect(
      once.search {
        looks += 1
        return 0
      } == 0)
    #expect(looks == 1)
  }

  @Test func `a search returns what it finds, and 0 when its time is over`() {
    var patience = Patience()
    #expect(patience.search { 7 } == 7)
    for _ in 1...16 {
      var looks = 0
      #expect(
        patience.search {
          looks += 1
          return 0
        } == 0)
      #expect(looks > 0)
    }
    #expect(patience.interval == 16)
  }
}
