import HarnessWords

/// Cancels a chain of pending operations, until the queue is empty: the whole chain (`cancel=all`), or the first
/// operation, after which the others run one by one (`cancel=head`). `ns_per_cancel` is the time divided by the length
/// of the chain in both cases. `executed` is the number of bodies that ran. With `head`, all but one run. With `all`,
/// an operation runs when the cancellation of its predecessor releases the operation before the cancellation reaches
/// it.
struct ThroughChain: HeldGraphWorkload {
  let name = BenchmarkName("cancellation", "through-chain")
  let summary = "cancels a chain of pending operations, until the queue is empty"

  func parameterSets() -> [Parameters] { [["cancel": "all", "length": "500"]] }
  func extendedParameterSets() -> [Parameters] { [["cancel": "head", "length": "500"]] }

  func graph(_ setting: Setting) throws -> TaskGraph { .chain(length: try setting.integer("length")) }
}

extension TaskGraph {
  static func chain(length: Int) -> TaskGraph { TaskGraph(idle: (0..<length).map { $0 == 0 ? [] : [$0 - 1] }) }

  /// Each task is followed by two others, as long as there are tasks left.
  static func binaryTree(tasks: Int) -> TaskGraph {
    TaskGraph(idle: (0..<tasks).map { $0 == 0 ? [] : [($0 - 1) / 2] })
  }
}
