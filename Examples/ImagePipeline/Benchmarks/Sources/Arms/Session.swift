import Glibc
import OperationComposition
import Pictures
import Synchronization

/// What a user does with a list of pictures: a seed decides. Cells are numbered in the order of the list.
public struct Session: Sendable {
  /// One sixtieth of a second.
  public struct Tick: Sendable {
    /// The first visible cell.
    public var first: Int
    public var isFast: Bool
  }

  public static let pictures = 2_000
  public static let visible = 60
  public static let ahead = 60
  public static let tick = 1.0 / 60
  public let ticks: [Tick]
  /// The number of the first visible cell before the first tick.
  public let seed: UInt64

  /// Flings of 0.4 to 0.9 s that slow down, pauses of 0.4 to 1.2 s, and every third fling turns back.
  /// - Parameter seconds: how long the user scrolls.
  public init(seed: UInt64, seconds: Double) {
    self.seed = seed
    var generator = SeededGenerator(seed: seed)
    var (ticks, position, fling) = ([Tick](), 0.0, 0)
    while Double(ticks.count) * Self.tick < seconds {
      for _ in 0..<Int(Double.random(in: 0.4...1.2, using: &generator) / Self.tick) {
        ticks.append(Tick(first: Int(position), isFast: false))
      }
      fling += 1
      let direction = fling.isMultiple(of: 3) ? -1.0 : 1.0
      var speed = Double.random(in: 150...700, using: &generator)
      for _ in 0..<Int(Double.random(in: 0.4...0.9, using: &generator) / Self.tick) {
        position = min(max(position + direction * speed * Self.tick, 0), Double(Self.pictures - Self.visible))
        ticks.append(Tick(first: Int(position), isFast: speed > 300))
        speed *= 0.96
      }
    }
    // The user stays where the last fling ended.
    ticks.append(Tick(first: Int(position), isFast: false))
    self.ticks = ticks
  }
}

/// Plays a session on an arm in real time, and notes when which cell was shown.
public final class Player: Sendable {
  /// A time in which a cell was visible.
  private struct Visit {
    var began: Double
    var shown: Double?
    var ended: Double?
  }

  private struct State {
    var visits: [Visit] = []
    var wrong = 0
  }

  public struct Result: Sendable {
    /// Seconds from visible to shown, sorted: of the cells that were shown.
    public var latencies: [Double] = []
    public var visits = 0
    /// Cells that were visible for 100 ms or longer, and those of them that were shown within 100 ms.
    public var stayed = 0
    public var prompt = 0
    /// Seconds without a picture, of all visits.
    public var blank = 0.0
    public var seconds = 0.0
    /// Cells of the last screen without a picture, and pictures with wrong pixels.
    public var lost = 0

    public func quantile(_ part: Double) -> Double {
      latencies.isEmpty ? .nan : latencies[min(latencies.count - 1, Int(Double(latencies.count) * part))]
    }
  }

  private let state = Mutex(State())
  private let arm: any Arm
  private let checksums: [UInt64]

  /// - Parameter checksums: picture `i` has that of `i` modulo their number.
  public init(_ arm: any Arm, checksums: [UInt64]) { (self.arm, self.checksums) = (arm, checksums) }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Blocks the calling thread: it is the user's main thread.
  public func play(_ session: Session) -> Result {
    let start = Self.now()
    var cells: [Int: (cell: any Cell, visit: Int)] = [:]
    var (ahead, isFast, last) = (Set<Int>(), false, 0)
    for (number, tick) in session.ticks.enumerated() {
      let wait = start + Double(number) * Session.tick - Self.now()
      if wait > 0 { usleep(UInt32(wait * 1e6)) }
      if tick.isFast != isFast {
        isFast = tick.isFast
        arm.setSuspended(isFast)
      }
      let visible = tick.first..<min(tick.first + Session.visible, Session.pictures)
      for (index, entry) in cells where !visible.contains(index) {
        entry.cell.leave()
        let now = Self.now()
        state.withLock { $0.visits[entry.visit].ended = now }
        cells[index] = nil
      }
      for index in visible where cells[index] == nil { cells[index] = begin(index) }
      // Where the user is going.
      let wanted: Range<Int> =
        tick.first >= last
        ? visible.upperBound..<min(visible.upperBound + Session.ahead, Session.pictures)
        : max(0, tick.first - Session.ahead)..<tick.first
      if tick.first != last || number == 0 {
        let next = Set(wanted)
        arm.stopPrefetching(Array(ahead.subtracting(next)))
        // A visible cell has asked for its own picture.
        arm.prefetch(next.subtracting(ahead).sorted())
        ahead = next
      }
      last = tick.first
    }
    // Until the last screen is whole.
    let limit = Self.now() + 10
    while Self.now() < limit, state.withLock({ state in cells.values.contains { state.visits[$0.visit].shown == nil } })
    {
      usleep(2_000)
    }
    let end = Self.now()
    arm.stopPrefetching(Array(ahead))
    for entry in cells.values { entry.cell.leave() }
    return result(end, lastVisits: cells.values.map(\.visit), seconds: end - start)
  }

  private func begin(_ index: Int) -> (cell: any Cell, visit: Int) {
    let began = Self.now()
    let visit = state.withLock { state in
      state.visits.append(Visit(began: began))
      return state.visits.count - 1
    }
    let cell = arm.show(index) { [self] picture in
      let (now, isRight) = (Self.now(), picture.checksum == checksums[index % checksums.count])
      state.withLock { state in
        if !isRight { state.wrong += 1 }
        if state.visits[visit].shown == nil { state.visits[visit].shown = now }
      }
    }
    return (cell, visit)
  }

  private func result(_ end: Double, lastVisits: [Int], seconds: Double) -> Result {
    state.withLock { state in
      var result = Result(visits: state.visits.count, seconds: seconds)
      for visit in state.visits {
        let left = visit.ended ?? end
        let shown = visit.shown.flatMap { $0 <= left ? $0 : nil }
        result.blank += (shown ?? left) - visit.began
        if let shown { result.latencies.append(shown - visit.began) }
        guard left - visit.began >= 0.1 else { continue }
        result.stayed += 1
        if let shown, shown - visit.began <= 0.1 { result.prompt += 1 }
      }
      result.latencies.sort()
      result.lost = state.wrong + lastVisits.count { state.visits[$0].shown == nil }
      return result
    }
  }
}
