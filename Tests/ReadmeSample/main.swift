import Operations

// Or .threadPool, .dispatch, .stealing(workers: 4); OperationQueue() is .stealing.
let queue = OperationQueue(backend: .stealing)
let load = BlockOperation { print("load") }
let parse = BlockOperation { print("parse") }
// Ends when finish() is called, from any thread.
let render = AsynchronousOperation { operation in
  print("render")
  operation.finish()
}
parse.addDependency(load)
render.addDependency(parse)
render.queuePriority = .high
let shown = DispatchSemaphore(value: 0)
render.completionBlock = {
  print("shown")
  shown.signal()
}
queue.addOperations([render, parse, load], waitUntilFinished: true)
// Whoever waits for an operation does not wait for its completion block.
shown.wait()
