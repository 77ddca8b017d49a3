/// What a job leaves to the thread that ran it: one word, so that the outcome is passed in a register.
struct JobOutcome {
  private let bits: UInt

  private static let released: UInt = 1
  private static let reusable: UInt = 2

  /// - Parameters:
  ///   - next: the word of the job that this thread runs next, or 0.
  ///   - isReleased: the thread gives back the reference that the job was.
  ///   - isReusable: only with `isReleased`: nobody else knows the operation, so the operation may serve a closure
  ///     again.
  @inline(__always)
  init(next: UInt = 0, isReleased: Bool = false, isReusable: Bool = false) {
    bits = next | (isReleased ? Self.released : 0) | (isReusable ? Self.reusable : 0)
  }

  @inline(__always) var next: UInt { bits & ~(Self.released | Self.reusable) }
  @inline(__always) var isReleased: Bool { bits & Self.released != 0 }
  @inline(__always) private var isReusable: Bool { bits & Self.reusable != 0 }

  /// Gives back the job's reference, if the thread is to give the reference back.
  @inline(__always)
  func giveBack(_ job: UInt) {
    if isReusable { SpareOperations.giveBack(job) } else if isReleased { JobObject.unmanaged(job).release() }
  }
}
