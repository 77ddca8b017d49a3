import Operations

let queue = OperationQueue()
let load = BlockOperation { print("load") }
let parse = BlockOperation { print("parse") }
func draw() async { print("render") }
// The body may await: no thread waits meanwhile.
let render = TaskOperation { await draw() }
parse.addDependency(load)
render.addDependency(parse)
render.queuePriority = .high
queue.addOperations([render, parse, load], waitUntilFinished: true)
print("shown")
