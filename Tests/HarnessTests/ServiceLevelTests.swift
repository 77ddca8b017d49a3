import Glibc
import Testing

@testable import HarnessMeasuring
@testable import HarnessStatistics

/// Service times, the queue without cost, and the search for a load, held against formulas.
struct ServiceLevelTests {
  private static let count = 200_000

  private static func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }

  /// The mean time in the queue over the mean service time, with Poisson arrivals at the load.
  private static func wait(_ service: ServiceTimes, load: Double, servers: Int) -> Double {
    let services = service.times(count, mean: 1, seed: 7)
    let arrivals = ArrivalSchedule(count: count, interval: 1e9, spacing: .exponential, seed: 7).offsets.map {
      Double($0) / 1e9 / (load * Double(servers))
    }
    let sojourns = SharedQueue.sojourns(arrivals: arrivals, services: services, servers: servers)
    return mean(zip(sojourns, services).map { $0 - $1 })
  }

  @Test(arguments: ServiceTimes.allCases)
  func serviceTimesHaveTheirMeanAndFollowFromTheSeed(service: ServiceTimes) {
    let times = service.times(Self.count, mean: 3_000, seed: 1)
    #expect(abs(Self.mean(times) / 3_000 - 1) < 0.05 && times.allSatisfy { $0 > 0 })
    #expect(service.times(5_000, mean: 1, seed: 2) == service.times(5_000, mean: 1, seed: 2))
    #expect((service.times(5_000, mean: 1, seed: 2) == service.times(5_000, mean: 1, seed: 3)) == (service == .fixed))
  }

  @Test func aFewRequestsAreLong() throws {
    let bimodal = ServiceTimes.bimodal.times(Self.count, mean: 2_997.5, seed: 1)
    #expect(Set(bimodal.map { $0.rounded() }) == [500, 500_000])
    let share = Double(bimodal.count { $0 > 1_000 }) / Double(Self.count)
    #expect(abs(share - 0.005) < 0.0005)
    let pareto = ServiceTimes.pareto.times(Self.count, mean: 1, seed: 1)
    let (least, most) = (try #require(pareto.min()), try #require(pareto.max()))
    #expect(most / least <= 1_000.001 && most / least > 900)
    // One time in ten is at least 10 to the 1/1.1 times the shortest.
    let tenth = Double(pareto.count { $0 >= least * pow(10, 1 / 1.1) }) / Double(Self.count)
    #expect(abs(tenth - 0.1) < 0.005)
  }

  /// The formula of Pollaczek and Khinchine, and that of Erlang for several servers.
  @Test(arguments: [0.3, 0.6, 0.8])
  func theSharedQueueWaitsAsTheFormulasSay(load: Double) {
    #expect(abs(Self.wait(.fixed, load: load, servers: 1) / (load / (2 * (1 - load))) - 1) < 0.05)
    #expect(abs(Self.wait(.exponential, load: load, servers: 1) / (load / (1 - load)) - 1) < 0.08)
    let delayed = 2 * load * load / (1 + load)
    #expect(abs(Self.wait(.exponential, load: load, servers: 2) / (delayed / (2 * (1 - load))) - 1) < 0.08)
  }

  @Test func theSharedQueueIsServedInTheOrderOfArrival() {
    let sojourns = SharedQueue.sojourns(arrivals: [0, 1, 2, 3, 100], services: [10, 2, 4, 1, 5], servers: 2)
    // The second server takes the requests that come while the first one is busy.
    #expect(sojourns == [10, 2, 5, 5, 5])
    #expect(SharedQueue.sojourns(arrivals: [], services: [], servers: 3).isEmpty)
  }

  /// Two servers. Request 0 takes 10, request 1 takes 12; requests 2 and 3 are short.
  @Test(arguments: [
    // Both long ones are begun at once, and the short ones wait.
    (SharedQueue.Long.same, [10.0, 12, 9, 11]), (.later, [10, 12, 9, 11]),
    // The second long one waits until the first has ended, and the other server takes the short ones.
    (.limited, [10, 22, 1, 3]),
    // After a piece of 2 each, the short ones go first.
    (.divided, [11, 14, 1, 2]),
    // The second server helps with the first long one, serves the short ones, and begins the second long one.
    (.forked, [8, 13, 1, 3]),
  ])
  func longRequestsAreServedAsIsSaid(long: SharedQueue.Long, expected: [Double]) {
    let sojourns = SharedQueue.sojourns(
      arrivals: [0, 0, 2, 2], services: [10, 12, 1, 2], servers: 2, long: long,
      isLong: [true, true, false, false], piece: 2)
    #expect(sojourns == expected, "\(long)")
  }

  @Test func aFreeServerTakesPiecesOfALongRequest() {
    func sojourns(_ long: SharedQueue.Long) -> [Double] {
      SharedQueue.sojourns(
        arrivals: [0, 1], services: [20, 1], servers: 4, long: long, isLong: [true, false],
        piece: 2)
    }
    // Twenty is ten pieces for four servers. One of them serves the short request for a while.
    #expect(sojourns(.forked)[0] == 6 && sojourns(.divided)[0] == 20 && sojourns(.later)[0] == 20)
  }

  /// Whatever is done about long ones, the servers do the same work.
  @Test(arguments: SharedQueue.Long.allCases)
  func allIsServed(long: SharedQueue.Long) {
    let services = ServiceTimes.pareto.times(2_000, mean: 1, seed: 3)
    let sojourns = SharedQueue.sojourns(
      arrivals: Array(repeating: 0, count: 2_000), services: services, servers: 1, long: long,
      isLong: services.map { $0 > 4 }, piece: 1)
    let total = services.reduce(0, +)
    #expect(abs(sojourns.max()! / total - 1) < 1e-9 && zip(sojourns, services).allSatisfy { $0 > 0.999_999 * $1 })
  }

  @Test(arguments: [5.0, 5.1, 7, 50, 94])
  func theSearchFindsTheHighestLoad(threshold: Double) throws {
    var asked = 0
    let found = try #require(
      ServiceLevel.highestLoad {
        asked += 1
        return $0 <= threshold
      })
    #expect(found <= threshold && threshold / found <= 1.1 && asked <= 7)
  }

  @Test func aSearchWithoutAnEnd() {
    #expect(ServiceLevel.highestLoad { _ in false } == nil)
    #expect(ServiceLevel.highestLoad { _ in true } == ServiceLevel.most)
  }

  @Test func oneRequestInAThousandMayBeSlow() {
    let slow = Array(repeating: 10.0, count: 5)
    #expect(ServiceLevel.holds(Array(repeating: 9.9, count: 4_995) + slow))
    #expect(!ServiceLevel.holds(Array(repeating: 9.9, count: 4_994) + slow + [11]))
    #expect(ServiceLevel.holds(Array(repeating: 1.0, count: 10)) && !ServiceLevel.holds([1, 10]))
  }

  /// What queueing alone allows on two servers, with half a percent of long requests.
  @Test func dividingLongRequestsWinsLoadBack() {
    let count = 10_000
    let services = ServiceTimes.bimodal.times(count, mean: 1, seed: 1)
    let arrivals = ArrivalSchedule(count: count, interval: 1e9, spacing: .exponential, seed: 1).offsets.map {
      Double($0) / 1e9
    }
    func capacity(_ long: SharedQueue.Long) -> Double? {
      ServiceLevel.highestLoad { load in
        let sojourns = SharedQueue.sojourns(
          arrivals: arrivals.map { $0 * 50 / load }, services: services, servers: 2, long: long,
          isLong: services.map { $0 > 4 }, piece: 1)
        return ServiceLevel.holds(zip(sojourns, services).map { $0 / $1 })
      }
    }
    #expect(capacity(.same) == nil && capacity(.later) == nil)
    let (limited, divided) = (capacity(.limited) ?? 0, capacity(.divided) ?? 0)
    #expect(limited > 30 && limited < 70 && divided > limited)
  }

  @Test func burstsComeTogether() {
    let offsets = ArrivalSchedule(count: 3_200, interval: 100, spacing: .bursts, seed: 1).offsets
    #expect(Set(offsets).count == 100 && offsets == offsets.sorted())
    #expect(abs(Double(offsets.last!) / 320_000 - 1) < 0.3)
  }
}
