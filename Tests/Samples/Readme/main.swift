import Operations

let queue = OperationQueue()
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
queue.addOperations([render, parse, load], waitUntilFinished: true)
print("shown")
