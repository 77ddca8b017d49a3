import HarnessWords

/// Like `through-chain`, with a binary tree that grows from the first operation.
struct ThroughTree: HeldGraphWorkload {
  let name = BenchmarkName("cancellation", "through-tree")
  let summary = "cancels a binary tree of pending operations, until the queue is empty"

  func parameterSets() -> [Parameters] { [["cancel": "all", "tasks": "511"]] }
  func extendedParameterSets() -> [Parameters] { [["cancel": "head", "tasks": "511"]] }

  func graph(_ setting: Setting) throws -> TaskGraph { .binaryTree(tasks: try setting.integer("tasks")) }
}
