/// The module for writing a backend or choosing a strategy: all of `Operations`, and the types of backends and
/// strategies, such as `Job` and `StealingStrategy`.
@_exported import OperationCore
@_exported import OperationExecutors
@_exported import OperationForks
@_exported import OperationGraphs
@_exported import OperationJobs
@_exported import OperationLoops
@_exported import OperationTraces
@_exported import Operations
@_exported import Scheduling
