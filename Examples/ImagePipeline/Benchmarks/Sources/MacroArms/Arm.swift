import ImagePipeline
import Operations
import Pictures

/// A way of getting pictures onto the screen.
public protocol Arm: AnyObject, Sendable {
  /// Asks for a picture. `done` is called once, on any thread: unless the ask leaves before, or the arm loses the
  /// picture.
  func ask(_ index: Int, _ urgency: Urgency, _ done: @escaping @Sendable (Picture) -> Void) -> any Ask
  /// While true nothing is begun. What runs goes on.
  func setSuspended(_ isSuspended: Bool)
  /// Ends everything. Nothing runs any more when the call returns.
  func shutdown() async
  var decodes: Decodes { get }
}

/// Who asks for a picture: a cell, or the prefetcher.
public protocol Ask: AnyObject, Sendable {
  func leave()
}

public enum Urgency: Sendable { case visible, ahead }

public struct Decodes: Sendable {
  public var all = 0
  /// Pictures that nobody wanted any more when they were decoded. They are in no cache.
  public var wasted = 0
}

/// An ask that has been answered.
final class Answered: Ask {
  func leave() {}
}

/// What a pipeline can do without, to see what it is worth.
public enum Feature: String, Sendable, CaseIterable {
  /// All requests are alike.
  case priorities
  /// Prefetching may hold all places.
  case limit
  /// Each request does all the work.
  case coalescing
  /// Who leaves the screen tells nobody.
  case cancelling
  /// Work is begun while the list is fast.
  case suspension
}

/// The arms of the benchmark.
public enum ArmKind: String, Sendable, CaseIterable {
  case stealing
  case threadpool
  case dispatch
  /// The same pipeline, compiled with Foundation's queue in place of this library's.
  case foundation
  /// Swift concurrency: a limit for each stage, first come, first served.
  case tasks
  /// Swift concurrency with limits that serve what is visible first.
  case tasksOrdered = "tasks-ordered"
  /// One operation of this library for each picture.
  case operations

  public func arm(_ workshop: Workshop, without feature: Feature? = nil) -> any Arm {
    switch self {
    case .stealing: PipelineArm(workshop, on: .stealing, without: feature)
    case .threadpool: PipelineArm(workshop, on: .threadPool, without: feature)
    case .dispatch: PipelineArm(workshop, on: .dispatch, without: feature)
    case .foundation: FoundationPipelineArm(workshop, without: feature)
    case .tasks: TasksArm(workshop, isOrdered: false)
    case .tasksOrdered: TasksArm(workshop, isOrdered: true)
    case .operations: OperationsArm(workshop, on: .stealing)
    }
  }
}
