import CPlatform

/// References to a queue that finished operations held, given back together.
///
/// Every operation holds its queue. If each operation's reference were given back at once, all workers and the adding
/// thread would write one cache line, the queue's reference count, for every operation. A worker therefore notes what
/// it owes, and gives it back for up to 64 operations together: before the worker begins anything that is not of the
/// same queue, or before it sleeps. Not when it runs out of jobs: of two pools that hand single jobs to each other,
/// each would write the count that the other one is about to write.
@usableFromInline
package enum OwedReferences {
  @usableFromInline static var limit: UInt32 { 64 }

  /// Runs `body`. The calling thread may owe references inside `body`. `body` calls `settle` before the thread sleeps.
  package static func allowed(_ body: () -> Void) {
    let words = cplatform_thread_words_address()
    let before = words.pointee.may_owe
    words.pointee.may_owe = true
    body()
    settle()
    words.pointee.may_owe = before
  }

  /// Whether the calling thread owes anything.
  @inlinable @inline(__always)
  package static var isOwing: Bool { cplatform_thread_words_address().pointee.owed_count > 0 }

  /// Gives back what the calling thread owes. May deallocate a queue, which may run code of users.
  @inlinable @inline(__always)
  package static func settle() {
    if isOwing { settleNow() }
  }

  /// Takes `count` references to a queue for operations that are being added. When this thread owes the queue at
  /// least `count` references, the operations get those, and the reference count is not written. So work that adds
  /// work never writes the reference count.
  @inlinable @inline(__always)
  package static func take(_ count: UInt32, of queue: UnsafeMutableRawPointer) {
    let words = cplatform_thread_words_address()
    if words.pointee.owed_count >= count, words.pointee.owed_queue == queue {
      words.pointee.owed_count -= count
    } else if count == 1 {
      _ = Unmanaged<JobQueue>.fromOpaque(queue).retain()
    } else {
      swift_retain_n(queue, count)
    }
  }

  /// Called before a body that may take long. After the call the thread owes only to the queue `queue`: that queue is
  /// alive anyway.
  @inlinable @inline(__always)
  package static func settle(except queue: UInt) {
    let words = cplatform_thread_words_address()
    if words.pointee.owed_count > 0, UInt(bitPattern: words.pointee.owed_queue) != queue { settleNow() }
  }

  @usableFromInline
  static func settleNow() {
    let words = cplatform_thread_words_address()
    let count = words.pointee.owed_count
    // A queue to which nothing is owed, because `take` used up everything, may be gone: its word is only compared.
    guard count > 0, let pointer = words.pointee.owed_queue else { return }
    assert(count <= limit, "a thread owes more references than it may")
    // The debt is forgotten first and given back second, because deallocating a queue may run operations of others on
    // this thread.
    words.pointee.owed_count = 0
    words.pointee.owed_queue = nil
    swift_release_n(pointer, count)
  }

  /// One reference to the queue of this word is not needed any more.
  @inlinable @inline(__always)
  package static func add(_ queue: UInt) {
    assert(queue != 0, "an operation that has no queue gives back a reference to one")
    let words = cplatform_thread_words_address()
    guard words.pointee.may_owe else { return JobQueue.object(queue).release() }
    if UInt(bitPattern: words.pointee.owed_queue) == queue, words.pointee.owed_count < limit {
      words.pointee.owed_count += 1
      return
    }
    settleNow()
    words.pointee.owed_queue = UnsafeMutableRawPointer(bitPattern: queue)
    words.pointee.owed_count = 1
  }
}
