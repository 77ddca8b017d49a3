import Operations

// Once in a module: every file of it then means these classes, also a file that imports Foundation alone.
typealias Operation = Operations.Operation
typealias BlockOperation = Operations.BlockOperation
typealias OperationQueue = Operations.OperationQueue
typealias QualityOfService = Operations.QualityOfService
