import Operations

// Public in a library whose public declarations use these names.
public typealias Operation = Operations.Operation
public typealias BlockOperation = Operations.BlockOperation
public typealias OperationQueue = Operations.OperationQueue
public typealias QualityOfService = Operations.QualityOfService
