import CPlatform
import Primitives

/// What one thread knows about the operation that it is running. A frame lies on that thread's stack, and a
/// thread-local word points to the innermost frame. Each frame is linked to the frame of the operation around it,
/// since an operation that waits may run another one.
struct LaunchFrame {
  /// The operation, kept alive by the thread that launched it; 0 for a completion block, and for a fork that another
  /// thread took.
  let operation: UInt
  /// The operation's queue; 0 for none.
  let queue: UInt
  /// Identity of the backend whose thread this is; 0 for a thread of the user's.
  let home: UInt32
  /// The launch took the operation's entry, and has to give the operation's `linked` flag back.
  let ownsLink: Bool
  /// The frame around this one. For a fork, the frame in which the fork was made: it lies on another thread's stack,
  /// where it stays until the fork has ended.
  let previous: UnsafeMutablePointer<LaunchFrame>?
  let depth: Int
  var isFork = false
  /// A part of an asynchronous body. A task of others may run in it: see `TaskRun`.
  var isPart = false
  /// The base class's `start()` was entered: a second call is misuse.
  var entered = false
  /// `main()` has returned, and the class is being asked whether the operation has finished: the base class says yes.
  var mainReturned = false
  /// The operation finished on this thread during the launch.
  var finished = false
  /// The operation finished and left its queue in one step: the launch gives the references back.
  var left = false
  /// The next job of this thread.
  var successor: UInt = 0

  static var current: UnsafeMutablePointer<LaunchFrame>? {
    cplatform_frame()?.assumingMemoryBound(to: LaunchFrame.self)
  }

  /// Runs `body` with `frame` as the innermost frame of this thread, and returns the frame as `body` left it.
  @inline(__always)
  static func enter(_ frame: consuming LaunchFrame, _ body: () -> Void) -> LaunchFrame {
    let previous = frame.previous
    withUnsafeMutablePointer(to: &frame) { pointer in
      cplatform_set_frame(pointer)
      body()
      cplatform_set_frame(previous)
    }
    return frame
  }

  /// The innermost operation of a frame and the frames around it, as a word; 0 for none.
  static func operation(at frame: UnsafeMutablePointer<LaunchFrame>?) -> UInt {
    var frame = frame
    while let here = frame {
      if here.pointee.operation != 0 { return here.pointee.operation }
      frame = here.pointee.previous
    }
    return 0
  }

  /// Whether the code that runs here is the operation's, and not that of another task which runs in a part of the
  /// operation's body.
  /// - Parameter inFork: whether a fork lies between: a fork of a body has no task where another thread runs the fork.
  func isOfThisTask(inFork: Bool) -> Bool {
    !isPart || inFork
      || Operation.unmanaged(operation)._withUnsafeGuaranteedRef { $0.bodyRun?.isCurrent ?? true }
  }

  /// Whether this thread is running `operation`, at any depth.
  static func isRunning(_ operation: Operation) -> Bool {
    let word = UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque())
    return isRunning { $0.operation == word }
  }

  /// Whether this thread is running an operation of `queue`, at any depth.
  static func isRunning(operationOf queue: OperationQueue) -> Bool {
    let word = UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque())
    return isRunning { $0.queue == word && $0.operation != 0 }
  }

  @inline(__always)
  private static func isRunning(_ isMeant: (borrowing LaunchFrame) -> Bool) -> Bool {
    var (frame, inFork) = (current, false)
    while let here = frame {
      if here.pointee.isFork { inFork = true }
      if isMeant(here.pointee), here.pointee.isOfThisTask(inFork: inFork) { return true }
      frame = here.pointee.previous
    }
    return false
  }
}
