/// The module for who writes a backend or chooses a strategy: all of `Operations`, and what backends and strategies are
/// made of, such as `Job` and `StealingStrategy`.
@_exported import OperationCore
@_exported import Operations
@_exported import Scheduling
