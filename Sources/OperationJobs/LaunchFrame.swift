import CPlatform
import Primitives

/// What one thread knows about the operation that it is running. A frame lies on that thread's stack, and a
/// thread-local word points to the innermost frame. Each frame is linked to the frame of the operation around it,
/// since an operation that waits may run another one.
@usableFromInline
package struct LaunchFrame {
  /// The operation, kept alive by the thread that launched it; 0 for a completion block, and for a fork that another
  /// thread took.
  @usableFromInline package let operation: UInt
  /// The operation's queue; 0 for none.
  @usableFromInline package let queue: UInt
  /// Identity of the backend whose thread this is; 0 for a thread of the user's.
  @usableFromInline package let home: UInt32
  /// The launch took the operation's entry, and has to give the operation's `linked` flag back.
  @usableFromInline package let ownsLink: Bool
  /// The frame around this one. For a fork, the frame in which the fork was made: it lies on another thread's stack,
  /// where it stays until the fork has ended.
  @usableFromInline package let previous: UnsafeMutablePointer<LaunchFrame>?
  @usableFromInline package let depth: Int
  @usableFromInline package var isFork: Bool
  /// A part of an asynchronous body. A task of others may run in it: see `TaskRun`.
  @usableFromInline package var isPart: Bool
  /// The base class's `start()` was entered: a second call is misuse.
  @usableFromInline package var entered: Bool
  /// `main()` has returned, and the class is being asked whether the operation has finished: the base class says yes.
  @usableFromInline package var mainReturned: Bool
  /// The operation finished on this thread during the launch.
  @usableFromInline package var finished: Bool
  /// The operation finished and left its queue in one step: the launch gives the references back.
  @usableFromInline package var left: Bool
  /// The next job of this thread.
  @usableFromInline package var successor: UInt

  @inlinable @inline(__always)
  package init(
    operation: UInt, queue: UInt, home: UInt32, ownsLink: Bool, previous: UnsafeMutablePointer<LaunchFrame>?,
    depth: Int, isFork: Bool = false, isPart: Bool = false, entered: Bool = false
  ) {
    (self.operation, self.queue, self.home) = (operation, queue, home)
    (self.ownsLink, self.previous, self.depth) = (ownsLink, previous, depth)
    (self.isFork, self.isPart, self.entered) = (isFork, isPart, entered)
    (mainReturned, finished, left, successor) = (false, false, false, 0)
  }

  @inlinable
  package static var current: UnsafeMutablePointer<LaunchFrame>? {
    cplatform_frame()?.assumingMemoryBound(to: LaunchFrame.self)
  }

  /// Runs `body` with `frame` as the innermost frame of this thread, and returns the frame as `body` left it.
  @inlinable @inline(__always)
  package static func enter(_ frame: consuming LaunchFrame, _ body: () -> Void) -> LaunchFrame {
    let previous = frame.previous
    withUnsafeMutablePointer(to: &frame) { pointer in
      cplatform_set_frame(pointer)
      body()
      cplatform_set_frame(previous)
    }
    return frame
  }

  /// The innermost operation of a frame and the frames around it, as a word; 0 for none.
  package static func operation(at frame: UnsafeMutablePointer<LaunchFrame>?) -> UInt {
    var frame = frame
    while let here = frame {
      if here.pointee.operation != 0 { return here.pointee.operation }
      frame = here.pointee.previous
    }
    return 0
  }

  /// The level of the innermost operation of a frame and the frames around it; nil for none.
  package static func level(at frame: UnsafeMutablePointer<LaunchFrame>?) -> Int? {
    let word = operation(at: frame)
    return word == 0 ? nil : JobObject.object(word)._withUnsafeGuaranteedRef { $0.level }
  }

  /// The queue of the innermost operation on this thread that has a queue, as a word; 0 for none.
  package static var currentQueueWord: UInt {
    var frame = current
    while let here = frame, here.pointee.queue == 0 { frame = here.pointee.previous }
    return frame?.pointee.queue ?? 0
  }

  /// The box of that queue's backend, which the operation keeps alive.
  package static var currentBox: Unmanaged<BackendBox>? {
    let queue = currentQueueWord
    return queue == 0 ? nil : JobQueue.object(queue)._withUnsafeGuaranteedRef { $0.box }
  }
}
