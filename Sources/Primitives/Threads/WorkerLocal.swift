import CPlatform

/// A thread's membership in a pool. The membership lies on that thread's stack and is reached through a thread-local
/// word: a few instructions, no cast.
package struct WorkerLocal {
  /// Identity of the pool.
  private let pool: UInt
  private let member: UnsafeMutableRawPointer

  /// The member of `pool` that the calling thread is; nil on threads that are not the pool's. The caller knows the
  /// class.
  @inline(__always)
  package static func current<Member: AnyObject>(of pool: AnyObject, as type: Member.Type) -> Unmanaged<Member>? {
    guard let local = cplatform_worker()?.assumingMemoryBound(to: WorkerLocal.self),
      local.pointee.pool == identity(pool)
    else { return nil }
    return Unmanaged<Member>.fromOpaque(local.pointee.member)
  }

  /// The member of whatever pool the calling thread is; nil on threads that are in none.
  package static var currentMember: AnyObject? {
    guard let local = cplatform_worker()?.assumingMemoryBound(to: WorkerLocal.self) else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(local.pointee.member).takeUnretainedValue()
  }

  /// Runs `body` with the calling thread as `member` of `pool`.
  package static func become(_ member: AnyObject, of pool: AnyObject, _ body: () -> Void) {
    let outer = cplatform_worker()
    var local = WorkerLocal(pool: identity(pool), member: Unmanaged.passUnretained(member).toOpaque())
    withUnsafeMutablePointer(to: &local) { pointer in
      cplatform_set_worker(pointer)
      body()
      cplatform_set_worker(outer)
    }
  }

  private static func identity(_ pool: AnyObject) -> UInt { UInt(bitPattern: ObjectIdentifier(pool)) }
}
