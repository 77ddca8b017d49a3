/// What a job leaves to the thread that ran it: one word, so that the outcome is passed in a register.
@_spi(Jobs) @frozen
public struct JobOutcome {
  @usableFromInline let bits: UInt

  @usableFromInline static var released: UInt { 1 }
  @usableFromInline static var reusable: UInt { 2 }

  /// - Parameters:
  ///   - next: the word of the job that this thread runs next, or 0.
  ///   - isReleased: the thread gives back the reference that the job was.
  ///   - isReusable: only with `isReleased`: nobody else knows the object, which may serve another job.
  @inlinable @inline(__always)
  package init(next: UInt = 0, isReleased: Bool = false, isReusable: Bool = false) {
    bits = next | (isReleased ? Self.released : 0) | (isReusable ? Self.reusable : 0)
  }

  @inlinable @inline(__always)
  package var next: UInt { bits & ~(Self.released | Self.reusable) }
  @inlinable @inline(__always)
  package var isReleased: Bool { bits & Self.released != 0 }
  @inlinable @inline(__always)
  var isReusable: Bool { bits & Self.reusable != 0 }

  /// Gives back the job's reference, if the thread is to give the reference back.
  @inlinable @inline(__always)
  package func giveBack(_ job: UInt) {
    if isReusable {
      JobObject.object(job)._withUnsafeGuaranteedRef { $0.giveBackReusable() }
    } else if isReleased {
      JobObject.object(job).release()
    }
  }
}
