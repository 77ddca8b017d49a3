import Harness

/// Cancels a chain of pending operations, until the queue is empty: all of it (`cancel=all`), or the first, after which
/// the others run one by one (`cancel=head`). `ns_per_cancel` is the time over the length of the chain in both cases;
/// `executed` is how many bodies ran: all but one with `head`, and with `all` those that the cancellation of their
/// predecessors released before it reached them.
struct ThroughChain: HeldGraphWorkload {
  let name = BenchmarkName("cancellation", "through-chain")
  let summary = "cancels a chain of pending operations, until the queue is empty"

  func parameterSets() -> [Parameters] { [["cancel": "all", "length": "500"]] }
  func extendedParameterSets() -> [Parameters] { [["cancel": "head", "length": "500"]] }

  func graph(_ setting: Setting) throws -> TaskGraph { .chain(length: try setting.integer("length")) }
}

extension TaskGraph {
  static func chain(length: Int) -> TaskGraph { TaskGraph(idle: (0..<length).map { $0 == 0 ? [] : [$0 - 1] }) }

  /// Each task is followed by two others, as far as there are two.
  static func binaryTree(tasks: Int) -> TaskGraph {
    TaskGraph(idle: (0..<tasks).map { $0 == 0 ? [] : [($0 - 1) / 2] })
  }
}
