/// Says which open members of `Operation` a class overrides, by a look at the class's method table.
///
/// The library has to know: `cancelAllOperations` may cancel an operation by itself only where no class wants to be
/// called, and only a property that a class computes has to be read. A class that overrides nothing pays two loads.
///
/// A class object begins with seven words, and then has the methods in an order that subclasses keep. The place of one
/// member is found when it is first needed: three classes of this file are compared with `Operation`. Where the
/// comparison does not find exactly one place, every class counts as one that overrides the member.
struct OverridableMember: Sendable {
  /// The member's place in every class object, in words; 0: not found.
  private let place: Int

  private init(overriddenBy probe: Operation.Type) {
    let table = Self.table(of: probe)
    let base = Self.table(of: Operation.self)
    let plain = Self.table(of: PlainProbe.self)
    let places = Self.methods.filter { table[$0] != base[$0] && plain[$0] == base[$0] }
    place = places.count == 1 ? places[0] : 0
  }

  static let isCancelled = OverridableMember(overriddenBy: CancelledProbe.self)
  static let isExecuting = OverridableMember(overriddenBy: ExecutingProbe.self)
  static let cancel = OverridableMember(overriddenBy: CancelProbe.self)
  static let isFinished = OverridableMember(overriddenBy: FinishedProbe.self)
  static let isReady = OverridableMember(overriddenBy: ReadyProbe.self)
  static let addDependency = OverridableMember(overriddenBy: DependencyProbe.self)

  /// Whether the place was found. For tests: without the places all works, and more slowly.
  var isFound: Bool { place != 0 }

  /// O(1).
  func isOverridden(by operation: Operation) -> Bool {
    place == 0 || Self.table(of: type(of: operation))[place] != Self.table(of: Operation.self)[place]
  }

  /// A class object as words.
  private static func table(of type: Operation.Type) -> UnsafePointer<UInt> {
    unsafeBitCast(type, to: UnsafePointer<UInt>.self)
  }

  /// The places of what a class object has behind its first seven words, as far as the object of `Operation` reaches.
  /// The fifth word has the object's length in bytes, and how many of these lie before its address.
  private static var methods: Range<Int> {
    let lengths = table(of: Operation.self)[4]
    let bytes = Int(lengths & 0xFFFF_FFFF) - Int(lengths >> 32)
    return 7..<max(7, bytes / MemoryLayout<UInt>.size)
  }
}

/// Overrides nothing. The class has an initializer of its own in its method table, as each class has.
private final class PlainProbe: Operation, @unchecked Sendable {}

private final class CancelProbe: Operation, @unchecked Sendable {
  override func cancel() {}
}

private final class CancelledProbe: Operation, @unchecked Sendable {
  override var isCancelled: Bool { true }
}

private final class ExecutingProbe: Operation, @unchecked Sendable {
  override var isExecuting: Bool { true }
}

private final class FinishedProbe: Operation, @unchecked Sendable {
  override var isFinished: Bool { true }
}

private final class ReadyProbe: Operation, @unchecked Sendable {
  override var isReady: Bool { true }
}

private final class DependencyProbe: Operation, @unchecked Sendable {
  override func addDependency(_ operation: Operation) {}
}

extension Operation {
  /// Whether the class's own `cancel()` has to be called, also for an operation of a queue that cancels everything.
  @inline(__always) final var overridesCancel: Bool { !isPlain && overrides(.cancel) }
  @inline(__always) final var overridesIsExecuting: Bool { !isPlain && overrides(.isExecuting) }
  @inline(__always) final var overridesIsFinished: Bool { !isPlain && overrides(.isFinished) }
  @inline(__always) final var overridesIsReady: Bool { !isPlain && overrides(.isReady) }
  /// Whether the class wants to hear of each dependency that is added.
  @inline(__always) final var overridesAddDependency: Bool { !isPlain && overrides(.addDependency) }

  /// Not inlined: most operations are plain.
  @inline(never)
  private final func overrides(_ member: Member) -> Bool {
    switch member {
    case .cancel: OverridableMember.cancel.isOverridden(by: self)
    case .isExecuting: OverridableMember.isExecuting.isOverridden(by: self)
    case .isFinished: OverridableMember.isFinished.isOverridden(by: self)
    case .isReady: OverridableMember.isReady.isOverridden(by: self)
    case .addDependency: OverridableMember.addDependency.isOverridden(by: self)
    }
  }

  private enum Member { case cancel, isExecuting, isFinished, isReady, addDependency }
}
