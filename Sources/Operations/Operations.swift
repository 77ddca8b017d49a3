/// The module to import: operations, queues, and the three backends. The module exports Dispatch as well, as
/// Foundation does: `underlyingQueue` has a type of Dispatch's, and files written for Foundation use Dispatch without
/// importing it.
@_exported import Dispatch
@_exported import DispatchBackend
@_exported import StealingBackend
@_exported import ThreadPoolBackend

// The names that users of operations need. `OperationBackends` exports all, such as `Job` and the strategies, for
// writing backends and choosing strategies. A name that is missing here can be used where no name is written:
// `OperationQueue(backend: .stealing(workers: 4, strategy: try .init("own=lifo")))`.
@_exported import class OperationCore.AsynchronousOperation
@_exported import class OperationCore.BlockOperation
@_exported import struct OperationCore.CircularWait
@_exported import struct OperationCore.DependencyCycleError
@_exported import class OperationCore.InvocationOperation
@_exported import enum OperationCore.InvocationOperationError
@_exported import class OperationCore.Operation
@_exported import struct OperationCore.OperationDiagnosis
@_exported import class OperationCore.OperationObservation
@_exported import struct OperationCore.OperationObservedChange
@_exported import protocol OperationCore.OperationObserving
@_exported import struct OperationCore.OperationObservingOptions
@_exported import class OperationCore.OperationProgress
@_exported import class OperationCore.OperationQueue
@_exported import protocol OperationCore.OperationQueueObserving
@_exported import enum OperationCore.OperationState
@_exported import struct OperationCore.OperationUpdates
@_exported import struct OperationCore.PriorityLimits
@_exported import enum OperationCore.QualityOfService
@_exported import struct OperationCore.QueueDiagnosis
@_exported import class OperationCore.TaskOperation
@_exported import class OperationExecutors.BackendSerialExecutor
@_exported import class OperationExecutors.BackendTaskExecutor
@_exported import enum OperationExecutors.DefaultExecutorError
@_exported import struct OperationExecutors.TaskDiagnosis
@_exported import struct OperationForks.SpawnScope
@_exported import func OperationForks.join
@_exported import func OperationForks.withForkScope
@_exported import protocol OperationGraphs.AnyGraphNode
@_exported import struct OperationGraphs.GraphBuilder
@_exported import enum OperationGraphs.GraphFailureMode
@_exported import struct OperationGraphs.GraphNode
@_exported import enum OperationGraphs.GraphOrder
@_exported import enum OperationGraphs.GraphOverlap
@_exported import class OperationGraphs.OperationGraph
@_exported import protocol OperationJobs.Backend
@_exported import func OperationLoops.concurrentPerform
@_exported import struct OperationTraces.OperationTrace
@_exported import struct OperationTraces.OperationTraceError
