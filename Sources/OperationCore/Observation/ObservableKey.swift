/// The properties of an operation that can be observed, and that subclasses post.
enum ObservableKey: UInt8, CaseIterable {
  case isCancelled, isAsynchronous, isConcurrent, isExecuting, isFinished, isReady
  case dependencies, queuePriority, completionBlock

  /// Makes a key from a string, with or without "is": "isFinished" and "finished" are the same.
  init?(name: String) {
    switch name {
    case "isCancelled", "cancelled": self = .isCancelled
    case "isAsynchronous", "asynchronous": self = .isAsynchronous
    case "isConcurrent", "concurrent": self = .isConcurrent
    case "isExecuting", "executing": self = .isExecuting
    case "isFinished", "finished": self = .isFinished
    case "isReady", "ready": self = .isReady
    case "dependencies": self = .dependencies
    case "queuePriority": self = .queuePriority
    case "completionBlock": self = .completionBlock
    default: return nil
    }
  }

  /// Makes a key from a key path of any subclass; nil for a property that is not one of these.
  init?<Subject: Operation>(_ path: PartialKeyPath<Subject>) {
    switch path {
    case \Subject.isCancelled: self = .isCancelled
    case \Subject.isAsynchronous: self = .isAsynchronous
    case \Subject.isConcurrent: self = .isConcurrent
    case \Subject.isExecuting: self = .isExecuting
    case \Subject.isFinished: self = .isFinished
    case \Subject.isReady: self = .isReady
    case \Subject.dependencies: self = .dependencies
    case \Subject.queuePriority: self = .queuePriority
    case \Subject.completionBlock: self = .completionBlock
    default: return nil
    }
  }
}
