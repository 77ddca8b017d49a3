import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// Solves a tree with closures in continuation-passing style. A parent leaves a frame that counts its unfinished
/// children, and the child that brings the count to zero goes on with the parent. No thread waits, and nothing is
/// locked. The closures count no references to frames or to this object, because such counts are no cost of a subject.
final class ClosureForkJoin<S: ClosureSubject, Tree: ForkJoinTree>: Sendable {
  let subject: S
  private let tree: Tree
  private let result = Atomic<Int>(0)
  private let finished = DispatchSemaphore(value: 0)

  private struct Frame: ~Copyable {
    let parent: FrameReference
    let unfinished: Atomic<Int>
    let sum: Atomic<Int>
  }

  /// A frame, or the place above the root. Frees nothing by itself.
  ///
  /// Sendable: the last of a frame's children frees the frame, when no other child uses it any more.
  private struct FrameReference: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<Frame>?
  }

  init(_ tree: Tree, subject: S) {
    self.tree = tree
    self.subject = subject
  }

  func solve() -> Int {
    let root = tree.root
    subject.submit { self.run(root, FrameReference(pointer: nil)) }
    finished.wait()
    subject.drain()
    return result.load(ordering: .acquiring)
  }

  private func run(_ node: Tree.Node, _ parent: FrameReference) {
    let value = tree.value(of: node)
    let count = tree.childCount(of: node)
    guard count > 0 else { return complete(parent, value) }
    let memory = UnsafeMutablePointer<Frame>.allocate(capacity: 1)
    memory.initialize(to: Frame(parent: parent, unfinished: Atomic(count), sum: Atomic(value)))
    let frame = FrameReference(pointer: memory)
    // `solve` keeps this object until all have run.
    let runner = Unmanaged.passUnretained(self)
    tree.forEachChild(of: node, count: count) { child in
      subject.submit { runner._withUnsafeGuaranteedRef { $0.run(child, frame) } }
    }
  }

  /// Notes that a child of `frame` is done and contributes `value`.
  private func complete(_ frame: FrameReference, _ value: Int) {
    var frame = frame
    var value = value
    while let current = frame.pointer {
      current.pointee.sum.wrappingAdd(value, ordering: .relaxed)
      guard current.pointee.unfinished.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 else {
        return
      }
      value = current.pointee.sum.load(ordering: .relaxed)
      frame = current.pointee.parent
      current.deinitialize(count: 1)
      current.deallocate()
    }
    result.store(value, ordering: .releasing)
    finished.signal()
  }
}

/// Solves a tree with operations: an operation for each child, and an operation that joins the children and depends on
/// each child. While a child is still running, the join also comes to depend on the operation that joins that child's
/// own children.
final class OperationForkJoin<S: OperationSubject, Tree: ForkJoinTree>: Sendable {
  let subject: S
  private let tree: Tree

  private final class Sum: Sendable {
    let value: Atomic<Int>

    init(_ value: Int) { self.value = Atomic(value) }
  }

  init(_ tree: Tree, subject: S) {
    self.tree = tree
    self.subject = subject
  }

  func solve() -> Int {
    let root = tree.root
    let sum = Sum(0)
    let join = S.makeOperation {}
    let item = S.makeOperation { self.run(root, sum, join) }
    S.addDependency(of: join, on: item)
    subject.add(contentsOf: [item, join])
    subject.drain()
    return sum.value.load(ordering: .acquiring)
  }

  private func run(_ node: Tree.Node, _ parent: Sum, _ parentJoin: S.Item) {
    let value = tree.value(of: node)
    let count = tree.childCount(of: node)
    guard count > 0 else {
      parent.value.wrappingAdd(value, ordering: .relaxed)
      return
    }
    let sum = Sum(value)
    let join = S.makeOperation { parent.value.wrappingAdd(sum.value.load(ordering: .relaxed), ordering: .relaxed) }
    // Adding a dependency is still allowed: the parent's join is not ready, because the join depends on this running
    // operation.
    S.addDependency(of: parentJoin, on: join)
    var items: [S.Item] = []
    items.reserveCapacity(count + 1)
    tree.forEachChild(of: node, count: count) { child in
      let item = S.makeOperation { self.run(child, sum, join) }
      S.addDependency(of: join, on: item)
      items.append(item)
    }
    items.append(join)
    subject.add(contentsOf: items)
  }
}

/// The trial that the benchmarks on trees share.
struct ForkJoinTrial<Tree: ForkJoinTree> {
  static func needs(_ parameters: Parameters) -> Abilities {
    TreeJoin(parameters).map(\.needs) ?? []
  }

  private let tree: Tree
  private let tasks: Int

  init(_ tree: Tree) {
    self.tree = tree
    tasks = tree.taskCount(tree.root)
  }

  func closures<S: ClosureSubject>(_ type: S.Type, _ setting: Setting) throws -> Trial {
    let subject = S(workers: setting.workers)
    func check() throws { try checkEmpty(subject.unfinished ?? 0) }
    switch try TreeJoin(checked: setting.parameters) {
    case .fork: return trial(ForkedTree(tree, subject: subject).solve, check: check)
    case .counter: return trial(ClosureForkJoin(tree, subject: subject).solve, check: check)
    case .dependency: throw CheckFailed("\(S.name) has no operations that depend on others")
    }
  }

  func operations<S: OperationSubject>(_ type: S.Type, _ setting: Setting) throws -> Trial {
    guard try TreeJoin(checked: setting.parameters) == .dependency else { return try closures(type, setting) }
    let runner = OperationForkJoin(tree, subject: S(workers: setting.workers))
    return trial(runner.solve) { try checkEmpty(runner.subject.remaining) }
  }

  private func trial(_ solve: @escaping () -> Int, check: @escaping () throws -> Void) -> Trial {
    let tree = tree
    return Trial.besideOneThread(
      operations: tasks, prepare: {}, alone: { tree.serial(Self.opaque(tree.root)) }, together: { solve() },
      verify: { result in
        guard result == tree.expected else { throw CheckFailed("the result is \(result) instead of \(tree.expected)") }
        try check()
      })
  }

  /// Hides from the optimiser that the tree is the same again, so that the optimiser cannot reuse the last result.
  @inline(never)
  @_optimize(none)
  static func opaque(_ node: Tree.Node) -> Tree.Node { node }
}
