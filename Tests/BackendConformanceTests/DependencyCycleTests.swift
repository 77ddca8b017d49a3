import Operations
import TestSupport
import Testing

/// Row 19: operations that wait for one another.
@Suite("Dependency cycles")
struct DependencyCycleTests {
  /// A ring: each waits for the one before, the first for the last.
  private func ring(_ count: Int, name: String) -> [CountingOperation] {
    let members = (0..<count).map { CountingOperation(name: "\(name)\($0)") }
    for index in 0..<count { members[index].addDependency(members[(index + count - 1) % count]) }
    return members
  }

  @Test(
    "row 19: nothing of a cycle runs until one member is cancelled, which releases the rest", arguments: allBackends)
  func cancelReleases(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for size in [2, 3, 10] {
        let members = ring(size, name: "ring")
        let after = CountingOperation()
        after.addDependency(members[0])
        queue.addOperations(members + [after], waitUntilFinished: false)
        giveOthersAChance()
        #expect((members + [after]).allSatisfy { $0.starts.value == 0 && !$0.isReady })
        members[size - 1].cancel()
        try queue.drainInTime()
        #expect(members.map(\.mains.value) == Array(repeating: 1, count: size - 1) + [0])
        #expect(after.mains.value == 1)
      }
    }
  }

  @Test("row 19: removing a dependency releases the cycle, too", arguments: allBackends)
  func removeReleases(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let members = ring(4, name: "ring")
      queue.addOperations(members, waitUntilFinished: false)
      members[2].removeDependency(members[1])
      try queue.drainInTime()
      #expect(members.allSatisfy { $0.mains.value == 1 })
    }
  }

  @Test("row 19: dependencyCycles() names the members and nobody else", arguments: allBackends)
  func cyclesAreNamed(backend: TestBackend) throws {
    try backend.withQueue { queue in
      #expect(queue.dependencyCycles().isEmpty)
      let first = ring(2, name: "a")
      let second = ring(5, name: "b")
      let before = CountingOperation(name: "before")
      first[0].addDependency(before)
      before.addDependency(Operation())
      let bridge = CountingOperation(name: "bridge")
      bridge.addDependency(first[1])
      second[0].addDependency(bridge)
      let after = CountingOperation(name: "after")
      after.addDependency(second[2])
      queue.addOperations(first + second + [before, bridge, after], waitUntilFinished: false)
      let cycles = Set(queue.dependencyCycles().map(Set.init))
      #expect(cycles == [Set(first), Set(second)])
      first[0].cancel()
      try first[1].finishInTime()
      #expect(queue.dependencyCycles().map(Set.init) == [Set(second)])
      queue.cancelAllOperations()
      try queue.drainInTime()
      #expect(queue.dependencyCycles().isEmpty)
    }
  }

  @Test("row 19: two rings that share a member are one component", arguments: allBackends)
  func sharedMember(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let left = ring(3, name: "left")
      let right = ring(3, name: "right")
      left[0].addDependency(right[0])
      right[1].addDependency(left[1])
      queue.addOperations(left + right, waitUntilFinished: false)
      #expect(queue.dependencyCycles().map(Set.init) == [Set(left + right)])
      queue.cancelAllOperations()
      try queue.drainInTime()
    }
  }

  @Test("row 19: pending operations without a cycle give none", arguments: allBackends)
  func noCycle(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let running = GatedOperation()
      let diamond = (0..<4).map { _ in Operation() }
      diamond[1].addDependency(diamond[0])
      diamond[2].addDependency(diamond[0])
      diamond[3].addDependency(diamond[1])
      diamond[3].addDependency(diamond[2])
      diamond[0].addDependency(running)
      queue.addOperations(diamond + [running], waitUntilFinished: false)
      #expect(queue.dependencyCycles().isEmpty)
      running.release.open()
      try queue.drainInTime()
    }
  }

  @Test("rows 17 and 19: a dependency added to a running operation is only listed: no cycle", arguments: allBackends)
  func listedDependency(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let running = GatedOperation()
      let dependent = CountingOperation()
      dependent.addDependency(running)
      queue.addOperations([running, dependent], waitUntilFinished: false)
      try running.started.wait("the operation to start")
      running.addDependency(dependent)
      #expect(queue.dependencyCycles().isEmpty)
      running.release.open()
      try queue.drainInTime()
      #expect(dependent.mains.value == 1)
    }
  }

  @Test("row 19: a batch that validates throws an error that names the members", arguments: allBackends)
  func validatingBatchThrows(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let members = ring(3, name: "member ")
      let innocent = CountingOperation(name: "innocent")
      let error = try #require(throws: DependencyCycleError.self) {
        try queue.addOperations(validating: [innocent] + members)
      }
      #expect(error.cycles.map(Set.init) == [Set(members as [Operation])])
      let text = String(describing: error)
      for index in 0..<3 { #expect(text.contains("member \(index)")) }
      #expect(!text.contains("innocent"))
    }
  }

  @Test("rows 19 and 22: a batch that throws changes nothing", arguments: allBackends)
  func validatingBatchChangesNothing(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let listed = GatedOperation()
      queue.addOperation(listed)
      let members = ring(3, name: "member ")
      let innocent = CountingOperation()
      #expect(throws: DependencyCycleError.self) {
        try queue.addOperations(validating: [innocent] + members)
      }
      giveOthersAChance()
      #expect(queue.operations == [listed] && queue.operationCount == 1)
      #expect(innocent.starts.value == 0 && innocent.isReady)
      members[0].removeDependency(members[2])
      try queue.addOperations(validating: [innocent] + members)
      listed.release.open()
      try queue.drainInTime()
      #expect((members + [innocent]).allSatisfy { $0.mains.value == 1 })
    }
  }

  @Test("row 19: a batch that closes a cycle with what the queue already holds throws", arguments: allBackends)
  func validatingBatchAgainstPending(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let pending = CountingOperation(name: "pending")
      let added = CountingOperation(name: "added")
      pending.addDependency(added)
      added.addDependency(pending)
      queue.addOperation(pending)
      let error = try #require(throws: DependencyCycleError.self) { try queue.addOperations(validating: [added]) }
      #expect(error.cycles.map(Set.init) == [Set([pending, added] as [Operation])])
      #expect(queue.operations == [pending])
      added.removeDependency(pending)
      try queue.addOperations(validating: [added])
      try queue.drainInTime()
      #expect(pending.mains.value == 1 && added.mains.value == 1)
    }
  }

  @Test("row 19: a batch without a cycle is added, and waited for if asked", arguments: allBackends)
  func validatingBatchWithoutCycle(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let chain = (0..<100).map { _ in CountingOperation() }
      for (earlier, later) in zip(chain, chain.dropFirst()) { later.addDependency(earlier) }
      try inTime("the batch that waits") {
        try queue.addOperations(validating: chain.reversed(), waitUntilFinished: true)
      }
      #expect(chain.allSatisfy { $0.isFinished && $0.mains.value == 1 })
      try queue.addOperations(validating: [])
      #expect(queue.operationCount == 0)
    }
  }

  @Test("row 19: a cancelled member does not make a cycle", arguments: allBackends)
  func validatingBatchWithCancelledMember(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let members = ring(3, name: "member ")
      members[1].cancel()
      try queue.addOperations(validating: members)
      try queue.drainInTime("the ring with a cancelled member")
      #expect(members.map(\.mains.value) == [1, 0, 1])
    }
  }

  @Test("row 19: a ring of up to 100,000 is named and released without recursion", arguments: allBackends)
  func largeRing(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let count = min(100_000, part(backend.manyReady / 10, of: backend.manyReady))
      let members = (0..<count).map { _ in Operation() }
      for index in 0..<count { members[index].addDependency(members[(index + count - 1) % count]) }
      queue.addOperations(members, waitUntilFinished: false)
      let sizes = try inTime("the search for cycles", seconds: 4 * patience) {
        queue.dependencyCycles().map(\.count)
      }
      #expect(sizes == [count])
      members[count / 2].cancel()
      try queue.drainInTime(seconds: 4 * patience)
      #expect(members.filter(\.isCancelled).count == 1)
    }
  }
}
