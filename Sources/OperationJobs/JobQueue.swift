import Primitives
import Synchronization

/// What jobs and forks know of a queue: the queue has a backend. Not for subclassing outside of the package: use
/// `OperationQueue`.
open class JobQueue: @unchecked Sendable {
  // Sendable: `boxWord` is atomic, and `retiredBoxes` is touched under `boxes`.

  /// This gap keeps what every worker reads for every operation off the cache line of the reference count. Every
  /// adding thread writes that line for every operation.
  private let gap = InlineArray<14, UInt>(repeating: 0)
  /// The backend's box, owned. Replaced boxes are kept in `retiredBoxes` for threads that still look at them.
  @usableFromInline final let boxWord: Atomic<UInt>
  private let boxes = FutexLock()
  private var retiredBoxes: [BackendBox] = []

  /// Without a backend: `setBox` follows. (The only designated initializer, for the reason given at `JobObject`.)
  package init() { boxWord = Atomic(0) }

  /// Called once, before others know the queue.
  package final func setBox(_ box: BackendBox) {
    boxWord.store(UInt(bitPattern: Unmanaged.passRetained(box).toOpaque()), ordering: .releasing)
  }

  deinit { box.release() }

  @inlinable
  package static func object(_ word: UInt) -> Unmanaged<JobQueue> {
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped)
  }

  /// The box of the present backend, without a reference of its own: the queue must outlive the use.
  @inlinable
  package final var box: Unmanaged<BackendBox> {
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: boxWord.load(ordering: .acquiring)).unsafelyUnwrapped)
  }

  /// Puts another backend in place of the present one. Called while no job of the queue is on its way.
  package final func replaceBox(_ box: BackendBox) {
    let old = boxWord.exchange(
      UInt(bitPattern: Unmanaged.passRetained(box).toOpaque()), ordering: .acquiringAndReleasing)
    boxes.withLock {
      retiredBoxes.append(Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: old).unsafelyUnwrapped).takeRetainedValue())
    }
  }

  /// The backend that the queue had first; nil while the queue has that one.
  package final var firstBackend: (any Backend)? { boxes.withLock { retiredBoxes.first?.backend } }
}
