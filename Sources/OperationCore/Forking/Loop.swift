import CPlatform
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
  /// The last measured chunk of a piece that has ended: ticks in the upper half, indices in the lower half; 0 for none.
  let measured = Atomic<UInt64>(0)
  /// The lowest index whose body has thrown.
  let failedIndex = Atomic<Int>(.max)
  private let lock = FutexLock()
  /// The failure with that index. Touched under `lock`; read without it when all pieces have ended.
  private let failure: UnsafeMutablePointer<LoopFailure?>

  init(failure: UnsafeMutablePointer<LoopFailure?>) { self.failure = failure }

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

/// What a piece has measured: how many indices it runs between two looks at the thread's list of forks.
struct LoopPace {
  private(set) var chunk = 1
  private var ticks: UInt64 = 0
  private var indices = 0

  /// A chunk that took less may grow, and one that took more shrinks.
  private static let short = cplatform_ticks_per_microsecond()
  private static let long = 5 * short
  /// What takes less in all is not worth a fork: a thief needs about as long to take it.
  private static let leastWork = Double(2 * short)
  /// However short the bodies were, not more indices run between two looks: the next body may be a long one.
  private static let longestChunk = 512
  /// The shortest time between two looks at the clock for the list of forks.
  static let lookInterval = 2 * short

  /// Begins with what another piece has measured.
  init(_ measured: UInt64) {
    guard measured != 0 else { return }
    chunk = Int(measured & 0xFFFF_FFFF)
    learn(measured >> 32, chunk)
  }

  init(chunk: Int) { self.chunk = chunk }

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

  /// Whether a fork pays for this number of indices. Nobody knows before the first chunk: then any two pay.
  func isWorthFork(_ rest: Int) -> Bool {
    rest > 1 && (indices == 0 || Double(ticks) * Double(rest) > Self.leastWork * Double(indices))
  }
}

/// Whether others want a fork of the calling thread.
enum ForkDemand {
  /// One relaxed load, unless the list wants a look at the clock now and then.
  /// - Parameter mayLook: whether it is time for such a look. Nil for one after some calls, as behind some forks.
  @inline(__always)
  static func isHere(mayLook: Bool? = nil) -> Bool {
    guard let list = cplatform_forks_here(), list.pointee.launch == cplatform_frame() else { return false }
    let wanted = cplatform_state_load_relaxed(&list.pointee.wanted)
    if wanted == cplatform_forks_enough.rawValue { return false }
    return wanted == cplatform_forks_more.rawValue || (mayLook ?? countDown(list)) && look(list)
  }

  private static func countDown(_ list: UnsafeMutablePointer<cplatform_forks>) -> Bool {
    let isOver = list.pointee.countdown == 0
    list.pointee.countdown &-= 1
    return isOver
  }

  @inline(never)
  private static func look(_ list: UnsafeMutablePointer<cplatform_forks>) -> Bool {
    ForkList.of(list).show()
    return cplatform_state_load_relaxed(&list.pointee.wanted) == cplatform_forks_more.rawValue
  }
}

/// Runs the indices from the first number up to the second one.
@usableFromInline
typealias LoopChunk = (_ lower: Int, _ upper: Int, _ memory: UnsafeMutableRawPointer?) -> LoopFailure?

/// Runs all indices below `count`, in chunks, on the calling thread and on those of the backend that help.
/// - Parameters:
///   - backend: whose threads help; nil as for `join`.
///   - memory: what `run` gets. A closure that captures nothing but the user's function, where that one captures nothing either, is
///     a constant, and the compiler makes the user's function a part of the closure's loop. So all else that `run` needs comes in
///     this way.
///   - undo: when the loop fails, called for each range whose indices have run: from several threads, once for each index.
///   - run: runs a range, or returns the failure of its first index that fails. The chunk has undone itself then.
/// - Returns: the error of the lowest index that failed.
@usableFromInline
func runLoop(
  on backend: (any Backend)?, _ count: Int, memory: UnsafeMutableRawPointer?, undo: (Int, Int) -> Void = { _, _ in },
  _ run: LoopChunk
) -> (any Error)? {
  if count < 2, backend == nil { return count < 1 ? nil : run(0, count, memory)?.error }
  let scope = ForkScope(on: backend)
  defer { scope?.end() }
  var failure: LoopFailure?
  withUnsafeMutablePointer(to: &failure) { failure in
    var state = LoopState(failure: failure)
    withUnsafeMutablePointer(to: &state) { state in
      _ = runPiece(0, count, halvings: firstHalvings, state, undo) { lower, upper in run(lower, upper, memory) }
    }
  }
  return failure?.error
}

/// How often a loop is halved before its first index is run, whatever others want: once there is a piece for each worker. The
/// pieces are forks, and so another thread gets at them even if the first index takes long.
private var firstHalvings: Int {
  guard let list = cplatform_forks_here(), let home = ForkList.of(list).task.home else { return 0 }
  let workers = home._withUnsafeGuaranteedRef { $0.workerCount }
  return Int.bitWidth - (workers - 1).leadingZeroBitCount
}

/// Runs the indices from `lower` up to `upper`.
/// - Parameter halvings: how often the piece is halved before its first index is run.
/// - Returns: whether all have run. If not, some index has failed, and what this piece ran has been undone.
private func runPiece(
  _ lower: Int, _ upper: Int, halvings: Int, _ state: UnsafeMutablePointer<LoopState>, _ undo: (Int, Int) -> Void,
  _ run: (Int, Int) -> LoopFailure?
) -> Bool {
  var next = lower
  var pace = LoopPace(state.pointee.measured.load(ordering: .relaxed))
  var now = cplatform_ticks()
  var lastLook = now
  while next < upper {
    if state.pointee.failedIndex.load(ordering: .relaxed) < next {
      undo(lower, next)
      return false
    }
    let mayLook = now &- lastLook > LoopPace.lookInterval
    if halvings > 0 && upper - next > 1 || ForkDemand.isHere(mayLook: mayLook) && pace.isWorthFork(upper - next) {
      let middle = next + (upper - next) / 2
      let start = next
      let halves = forkAndJoin(
        { runPiece(start, middle, halvings: halvings - 1, state, undo, run) },
        { runPiece(middle, upper, halvings: halvings - 1, state, undo, run) })
      if halves.first, halves.second { return true }
      undo(lower, start)
      if halves.first { undo(start, middle) }
      if halves.second { undo(middle, upper) }
      return false
    }
    if mayLook { lastLook = now }
    let end = min(next + pace.chunk, upper)
    if let failure = run(next, end) {
      state.pointee.record(failure)
      undo(lower, next)
      return false
    }
    let before = now
    now = cplatform_ticks()
    pace.learn(now &- before, end - next)
    next = end
  }
  state.pointee.measured.store(pace.word, ordering: .relaxed)
  return true
}

/// Traps because a loop or a scope was misused; the message names the operation, when there is one.
@usableFromInline
func forkMisuse(_ reason: String) -> Never {
  if let operation = LaunchFrame.innermostOperation { misuse(operation, reason) }
  fatalError("Operations: \(reason)")
}

extension LaunchFrame {
  /// The innermost operation on this thread, or the operation in which this thread's fork was made.
  static var innermostOperation: Operation? {
    var frame = current
    while let here = frame, here.pointee.operation == 0 { frame = here.pointee.previous }
    guard let word = frame?.pointee.operation else { return nil }
    return Operation.retained(word)
  }
}
