import Glibc
import HarnessWords

/// Runs every closure in order on the thread that submits the closure: what the bodies and their closures cost without
/// any scheduler. A closure that submits another closure does not recurse; the other closure runs when the first has
/// returned.
///
/// Each thread works on its own, so nothing is shared and nothing is locked.
public final class SerialSubject: ClosureSubject {
  public static var name: String { "serial" }
  public static var summary: String { "a loop on the calling thread, no scheduler" }
  public static var role: SubjectRole { .baseline }
  public static var workersAreAdjustable: Bool { false }
  public static var abilities: Abilities { [.forks, .loops, .collections] }

  @usableFromInline let key: pthread_key_t

  public init(workers: Int) {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { Unmanaged<Trampoline>.fromOpaque($0!).release() }
    precondition(status == 0, "no thread-specific key is left")
    self.key = key
  }

  deinit {
    if let trampoline = pthread_getspecific(key) { Unmanaged<Trampoline>.fromOpaque(trampoline).release() }
    pthread_key_delete(key)
  }

  @inlinable
  public func submit(_ body: @escaping @Sendable () -> Void) {
    if let trampoline = pthread_getspecific(key) {
      Unmanaged<Trampoline>.fromOpaque(trampoline)._withUnsafeGuaranteedRef { $0.run(body) }
    } else {
      addTrampoline().run(body)
    }
  }

  /// Submitted work has already run when `submit` returns to a thread that is not inside a closure.
  @inlinable public func drain() {}

  @inlinable
  public func forkFromOutside(_ first: @Sendable () -> Int, _ second: @Sendable () -> Int) -> (Int, Int) {
    Self.fork(first, second)
  }

  /// Runs the closures one after the other.
  @inlinable
  public static func fork<Value: Sendable, Failure: Error>(
    _ first: @Sendable () throws(Failure) -> Value, _ second: @Sendable () throws(Failure) -> Value
  ) throws(Failure) -> (Value, Value) {
    (try first(), try second())
  }

  @inlinable
  public func perform(_ count: Int, _ body: @Sendable (Int) -> Void) { for index in 0..<count { body(index) } }

  @inlinable
  public func map(_ elements: [UInt64], _ transform: @Sendable (UInt64) -> UInt64) -> [UInt64] {
    elements.map(transform)
  }

  @inlinable public func sort(_ elements: inout [UInt64]) { elements.sort() }

  @usableFromInline
  func addTrampoline() -> Trampoline {
    let trampoline = Trampoline()
    pthread_setspecific(key, Unmanaged.passRetained(trampoline).toOpaque())
    return trampoline
  }
}

/// The closures of one thread that wait for the running closure.
@usableFromInline
final class Trampoline {
  @usableFromInline var waiting: [@Sendable () -> Void] = []
  @usableFromInline var isRunning = false

  @usableFromInline
  init() {}

  @inlinable
  func run(_ body: @escaping @Sendable () -> Void) {
    if isRunning {
      waiting.append(body)
      return
    }
    isRunning = true
    body()
    if !waiting.isEmpty { runWaiting() }
    isRunning = false
  }

  /// Runs the closures in the order in which they were submitted. Closures that ran are released in batches.
  @usableFromInline
  func runWaiting() {
    while !waiting.isEmpty {
      var batch: [@Sendable () -> Void] = []
      swap(&batch, &waiting)
      for body in batch { body() }
      batch.removeAll(keepingCapacity: true)
      if waiting.isEmpty { swap(&batch, &waiting) }
    }
  }
}
