// Which operations will finish without any further statement: what a thread may wait for.

extension Model {
  /// A cautious answer: what is in it finishes whatever the timing; what is not may still.
  var certainToFinish: Set<Int> {
    var blocked: Set<Int> = []
    while true {
      let certain = certain(whenBlocked: blocked)
      let more = queues.indices.filter { queue in
        guard !blocked.contains(queue), queues[queue].limit != .max else { return false }
        let holders = prospectiveMembers(of: queue).filter { !operations[$0].isDone && !certain.contains($0) }
        return holders.count >= queues[queue].limit
      }
      if more.isEmpty { return certain }
      blocked.formUnion(more)
    }
  }

  /// With those that bodies may still add.
  func prospectiveMembers(of queue: Int) -> [Int] {
    let added = operations.flatMap { operation in
      operation.isDone ? [] : operation.spec.actions.filter { $0.queue == queue }.flatMap(\.operations)
    }
    return Array(Set(members(of: queue)).union(added.filter { operations[$0].queue == nil }))
  }

  private func certain(whenBlocked blocked: Set<Int>) -> Set<Int> {
    var certain = Set(operations.indices.filter { operations[$0].isDone })
    var changed = true
    while changed {
      changed = false
      for index in operations.indices where !certain.contains(index) {
        guard isCertain(index, given: certain, blocked: blocked) else { continue }
        certain.insert(index)
        changed = true
      }
    }
    return certain
  }

  private func isCertain(_ index: Int, given certain: Set<Int>, blocked: Set<Int>) -> Bool {
    let operation = operations[index]
    if operation.began == nil, !operation.byHand {
      guard let queue = operation.queue, !queues[queue].isSuspended, !blocked.contains(queue) else { return false }
      let isFree = operation.dependencies.allSatisfy { certain.contains($0.operation) }
      guard isFree, operation.kind != .conditional || operation.conditionBegan else { return false }
      let all = prospectiveMembers(of: queue)
      if all.contains(where: { operations[$0].isBarrier && !operations[$0].isDone }) {
        let before = all.filter { $0 != index && !(operation.addBegan < operations[$0].addBegan) }
        guard before.allSatisfy(certain.contains) else { return false }
      }
    }
    if operation.kind.endsLater, operation.ended == nil {
      guard operation.helperAsked || operation.spec.actions.contains(.finishByHelper), operation.cancelBegan == nil
      else {
        return operation.mustSkip
      }
    }
    return operation.bodyReturned || actionsAreCertain(of: operation, given: certain)
  }

  /// Whether a thread that starts it by hand comes back.
  func returnsFromBody(_ index: Int) -> Bool { actionsAreCertain(of: operations[index], given: certainToFinish) }

  private func actionsAreCertain(of operation: ModelOperation, given certain: Set<Int>) -> Bool {
    operation.spec.actions.allSatisfy { action in
      switch action {
      case .pass(let gate): openGates.contains(gate)
      case .wait(let other):
        // A waiting operation keeps its place. Others may need that place before the awaited operation can end.
        operations[other].isDone
          || certain.contains(other) && operation.queue.map { queues[$0].limit == .max } ?? true
      default: true
      }
    }
  }
}
