import CPlatform
import OperationForks
import OperationJobs
import Primitives
import Synchronization

// A loop over a range of indices whose pieces other threads may take. No frame and no atomic for each index: a piece is
// halved when a fork is wanted, and not before. `README.md` here has the rules.

/// A body has thrown at an index.
@frozen @usableFromInline
struct LoopFailure {
  @usableFromInline let index: Int
  @usableFromInline let error: any Error

  @inlinable
  init(index: Int, error: any Error) { (self.index, self.error) = (index, error) }
}

/// What the pieces of one loop share.
struct LoopState: ~Copyable {
  /// The lowest index whose body has thrown.
  let failedIndex = Atomic<Int>(.max)
  private let lock = FutexLock()
  /// What the time of all pieces is.
  let time: LoopTime
  /// How many indices a thread runs before it has measured anything.
  let firstChunk: Int
  /// The failure with that index. Touched under `lock`; read without it when all pieces have ended.
  private let failure: UnsafeMutablePointer<LoopFailure?>

  init(_ count: Int, failure: UnsafeMutablePointer<LoopFailure?>) {
    time = LoopTime.here
    firstChunk = time.firstChunk(of: count)
    self.failure = failure
  }

  /// Keeps the failure with the lowest index.
  borrowing func record(_ new: LoopFailure) {
    // Released without the lock: the class of an error is a user's.
    var other: LoopFailure? = new
    lock.lock()
    if new.index < failedIndex.load(ordering: .relaxed) {
      failedIndex.store(new.index, ordering: .relaxed)
      swap(&other, &failure.pointee)
    }
    lock.unlock()
  }
}

/// What loops and sorts measure their bodies with: ticks of the processor. On a driven backend nothing asks a clock, so
/// that two runs of a seed do the same: there each chunk takes a microsecond, and a loop has the same chunk throughout.
enum LoopTime {
  case ticks
  case steps

  /// The time of what forks in the calling thread's scope.
  static var here: LoopTime { ForkDemand.isDriven ? .steps : .ticks }

  var now: UInt64 { self == .ticks ? cplatform_ticks() : 0 }

  /// The time behind a chunk that began at `time`.
  func now(after time: UInt64) -> UInt64 { self == .ticks ? cplatform_ticks() : time &+ LoopPace.short }

  /// The first chunk of a thread, in a loop with this number of indices. Where steps count, up to 256 indices have a
  /// look behind each, and may each be a fork.
  func firstChunk(of count: Int) -> Int {
    self == .ticks ? 1 : 1 << (Int.bitWidth - ((count - 1) / 256).leadingZeroBitCount)
  }
}

/// What a thread has measured of a loop since it took a piece: how many indices it runs between two looks at its list
/// of forks.
struct LoopPace {
  private(set) var chunk = 1
  private var ticks: UInt64 = 0
  private var indices = 0
  /// The list of the thread. Nobody else may use what was measured: the next body of another piece may be a long one.
  private(set) var list: UnsafeMutablePointer<cplatform_forks>?
  /// Other threads may take what is left of a piece.
  private var mayDivide = false

  /// A chunk that took less may grow, and one that took more shrinks.
  static let short = cplatform_ticks_per_microsecond()
  private static let long = 5 * short
  /// What takes less in all is not worth a fork: a thief needs about as long to take it.
  private static let leastWork = Double(2 * short)
  /// However short the bodies were, not more indices run between two looks: the next body may be a long one.
  private static let longestChunk = 512
  /// The shortest time between two looks at the clock for the list of forks.
  static let lookInterval = 2 * short

  init(chunk: Int = 1) { self.chunk = chunk }

  /// Begins with what another piece has measured.
  init(measured: UInt64) {
    guard measured != 0 else { return }
    chunk = Int(measured & 0xFFFF_FFFF)
    learn(measured >> 32, chunk)
  }

  /// Begins with nothing on the calling thread.
  static func here(_ chunk: Int) -> LoopPace {
    var pace = LoopPace(chunk: chunk)
    pace.list = cplatform_forks_here()
    pace.mayDivide = ForkDemand.hasHelpers
    return pace
  }

  /// What has been measured, in one word; 0 for nothing.
  var word: UInt64 { min(ticks, UInt64(UInt32.max)) << 32 | UInt64(indices) }

  mutating func learn(_ ticks: UInt64, _ indices: Int) {
    (self.ticks, self.indices) = (max(1, ticks), indices)
    if ticks < Self.short {
      if indices >= chunk { chunk = min(chunk * 4, max(chunk, Self.longestChunk)) }
    } else if ticks > Self.long {
      chunk = max(1, chunk / 4)
    }
  }

  /// Whether all that is left becomes forks before the next body runs, whatever others want: that body may be a long
  /// one, and wait for any other. Nobody knows before the first chunk, and behind a long body the next one is taken to
  /// be long.
  var divides: Bool { mayDivide && (indices == 0 || chunk == 1 && ticks > Self.long) }

  /// Whether a fork pays for this number of indices.
  func isWorthFork(_ rest: Int) -> Bool {
    rest > 1 && (indices == 0 || Double(ticks) * Double(rest) > Self.leastWork * Double(indices))
  }
}

/// Runs the indices from the first number up to the second one.
@usableFromInline
typealias LoopChunk = (_ lower: Int, _ upper: Int, _ memory: UnsafeMutableRawPointer?) -> LoopFailure?

/// Runs all indices below `count`, in chunks, on the calling thread and on those of the backend that help.
/// - Parameters:
///   - memory: what `run` gets. A closure that captures nothing but the user's function, where that one captures
///     nothing either, is a constant, and the compiler makes the user's function a part of the closure's loop. So all
///     else that `run` needs comes in this way.
///   - undo: when the loop fails, called for each range whose indices have run: from several threads, once for each
///     index.
///   - run: runs a range, or returns the failure of its first index that fails. The chunk has undone itself then.
/// - Returns: the error of the lowest index that failed.
@usableFromInline
func runLoop(
  _ count: Int, memory: UnsafeMutableRawPointer?, undo: (Int, Int) -> Void = { _, _ in },
  _ run: LoopChunk
) -> (any Error)? {
  if count < 2 { return count < 1 ? nil : run(0, count, memory)?.error }
  let scope = ForkScope()
  defer { scope?.end() }
  var failure: LoopFailure?
  withUnsafeMutablePointer(to: &failure) { failure in
    var state = LoopState(count, failure: failure)
    withUnsafeMutablePointer(to: &state) { state in
      var pace = LoopPace.here(state.pointee.firstChunk)
      withUnsafeMutablePointer(to: &pace) { pace in
        _ = runRange(0, count, pace, state, undo) { lower, upper in run(lower, upper, memory) }
      }
    }
  }
  return failure?.error
}

/// Runs the indices from `lower` up to `upper`, as a thread takes them that may have run other indices of the loop
/// before.
/// - Parameter pace: of the thread that made the piece.
/// - Returns: whether all have run. If not, some index has failed, and what this piece ran has been undone.
private func runPiece(
  _ lower: Int, _ upper: Int, _ pace: UnsafeMutablePointer<LoopPace>, _ state: UnsafeMutablePointer<LoopState>,
  _ undo: (Int, Int) -> Void, _ run: (Int, Int) -> LoopFailure?
) -> Bool {
  if pace.pointee.list == cplatform_forks_here() { return runRange(lower, upper, pace, state, undo, run) }
  var own = LoopPace.here(state.pointee.firstChunk)
  return withUnsafeMutablePointer(to: &own) { runRange(lower, upper, $0, state, undo, run) }
}

/// - Parameter pace: of the calling thread.
private func runRange(
  _ lower: Int, _ upper: Int, _ pace: UnsafeMutablePointer<LoopPace>, _ state: UnsafeMutablePointer<LoopState>,
  _ undo: (Int, Int) -> Void, _ run: (Int, Int) -> LoopFailure?
) -> Bool {
  var next = lower
  let time = state.pointee.time
  var now = time.now
  var lastLook = now
  while next < upper {
    if state.pointee.failedIndex.load(ordering: .relaxed) < next {
      undo(lower, next)
      return false
    }
    let mayLook = now &- lastLook > LoopPace.lookInterval
    if upper - next > 1,
      pace.pointee.divides || ForkDemand.isHere(mayLook: mayLook) && pace.pointee.isWorthFork(upper - next)
    {
      let middle = next + (upper - next) / 2
      let start = next
      let halves = forkAndJoin(
        { runRange(start, middle, pace, state, undo, run) }, { runPiece(middle, upper, pace, state, undo, run) })
      if halves.first, halves.second { return true }
      undo(lower, start)
      if halves.first { undo(start, middle) }
      if halves.second { undo(middle, upper) }
      return false
    }
    if mayLook { lastLook = now }
    let end = min(next + pace.pointee.chunk, upper)
    if let failure = run(next, end) {
      state.pointee.record(failure)
      undo(lower, next)
      return false
    }
    let before = now
    now = time.now(after: before)
    pace.pointee.learn(now &- before, end - next)
    next = end
  }
  return true
}
