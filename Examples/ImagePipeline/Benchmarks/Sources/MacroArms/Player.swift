import Dispatch
import Pictures
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Plays a script on an arm in real time, and notes when which cell was shown.
public final class Player: Sendable {
  private struct State {
    var visits: [Visit] = []
    var seen: Set<Int> = []
    var wrong = 0
  }

  private let state = Mutex(State())
  private let arm: any Arm
  private let workshop: Workshop
  private let pictures: PictureSet
  private let feature: Feature?

  /// - Parameter feature: what the player does not use, if it is cancelling or suspension.
  public init(_ arm: any Arm, _ workshop: Workshop, _ pictures: PictureSet, without feature: Feature? = nil) {
    (self.arm, self.workshop, self.pictures, self.feature) = (arm, workshop, pictures, feature)
  }

  private static func now() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

  /// The cells and the prefetcher. All of it is the calling thread's.
  private struct Screen {
    var cells: [Int: (ask: any Ask, visit: Int)] = [:]
    var ahead: [Int: any Ask] = [:]
    /// Asks that were not told to leave.
    var kept: [any Ask] = []
    var isFast = false
  }

  /// Plays to the end, waits until each cell of the last screen has got a picture, and shuts the arm down. Blocks the
  /// calling thread, which is the user's main thread.
  /// - Parameter patience: how many seconds the last screen may take. What is missing then is lost.
  public func play(_ script: Script, patience: Double = 15) -> Outcome {
    let usage = Usage.begin()
    let start = Self.now()
    var screen = Screen()
    var threads = 0
    for (number, tick) in script.ticks.enumerated() {
      let wait = start + tick.time - Self.now()
      if wait > 0 { usleep(UInt32(wait * 1e6)) }
      move(&screen, to: tick)
      if number.isMultiple(of: 6) { threads = max(threads, Usage.threads()) }
    }
    let limit = Self.now() + patience
    while Self.now() < limit, screen.cells.values.contains(where: { isAwaited($0.visit) }) { usleep(1_000) }
    let end = Self.now()
    threads = max(threads, Usage.threads())
    for ask in screen.ahead.values { ask.leave() }
    for cell in screen.cells.values { cell.ask.leave() }
    waiting { [arm] in await arm.shutdown() }
    return outcome(screen.cells.values.map(\.visit), start: start, end: end, usage.end(), threads: threads)
  }

  private func move(_ screen: inout Screen, to tick: Script.Tick) {
    if tick.isFast != screen.isFast, feature != .suspension {
      screen.isFast = tick.isFast
      arm.setSuspended(tick.isFast)
    }
    for (index, cell) in screen.cells where !tick.visible.contains(index) {
      leave(cell.ask, &screen)
      let now = Self.now()
      state.withLock { $0.visits[cell.visit].ended = now }
      screen.cells[index] = nil
    }
    for index in tick.visible where screen.cells[index] == nil { screen.cells[index] = show(index) }
    // What has become visible has asked by itself.
    for (index, ask) in screen.ahead where !tick.ahead.contains(index) {
      leave(ask, &screen)
      screen.ahead[index] = nil
    }
    for index in tick.nearestFirst where screen.ahead[index] == nil {
      screen.ahead[index] = arm.ask(index, .ahead) { _ in }
    }
  }

  private func leave(_ ask: any Ask, _ screen: inout Screen) {
    if feature == .cancelling { screen.kept.append(ask) } else { ask.leave() }
  }

  private func show(_ index: Int) -> (ask: any Ask, visit: Int) {
    let began = Self.now()
    let visit = state.withLock { state in
      state.visits.append(Visit(began: began))
      return state.visits.count - 1
    }
    let ask = arm.ask(index, .visible) { [self] picture in
      let now = Self.now()
      let isRight = pictures.isRight(picture, index)
      state.withLock { state in
        guard isRight else {
          state.wrong += 1
          state.visits[visit].isWrong = true
          return
        }
        if state.visits[visit].shown == nil { state.visits[visit].shown = now }
        state.seen.insert(index)
      }
    }
    return (ask, visit)
  }

  private func isAwaited(_ visit: Int) -> Bool {
    state.withLock { $0.visits[visit].shown == nil && !$0.visits[visit].isWrong }
  }

  private func outcome(_ last: [Int], start: Double, end: Double, _ usage: Usage, threads: Int) -> Outcome {
    state.withLock { state in
      var outcome = Outcome(visits: state.visits, end: end)
      outcome.seconds = end - start
      outcome.lost = state.wrong + last.count { state.visits[$0].shown == nil }
      outcome.bytes = workshop.transport.bytes
      outcome.bytesForNothing = outcome.bytes - state.seen.reduce(0) { $0 + pictures.size($1) }
      outcome.requests = workshop.transport.requests
      outcome.decodes = arm.decodes
      outcome.decodesNotSeen = outcome.decodes.all - state.seen.count
      (outcome.usage, outcome.threads) = (usage, threads)
      return outcome
    }
  }
}

/// Waits for a task. The thread that calls is no thread of a pool.
public func waiting(_ body: @escaping @Sendable () async -> Void) {
  let ended = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    ended.signal()
  }
  ended.wait()
}
