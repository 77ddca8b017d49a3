/// Parts of the contract that can be left out of generated programs and of the comparison, to see what the rest says.
public struct Features: OptionSet, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Observers that wait for operations.
  public static let observerWaits = Features(rawValue: 1 << 0)
  /// What a subclass posts reaches observers inside of `didChangeValue`, each change once, in order.
  public static let postedObservers = Features(rawValue: 1 << 1)
  /// More bodies than workers block without the library knowing.
  public static let silentBlocks = Features(rawValue: 1 << 3)
  /// A batch is ordered together.
  public static let batchOrder = Features(rawValue: 1 << 4)
  /// What one operation releases is ordered together.
  public static let releaseOrder = Features(rawValue: 1 << 5)
  /// One worker serves several queues in the order of priority.
  public static let workerOrder = Features(rawValue: 1 << 6)
  /// A subclass with dependencies has its place in the order from the moment in which the last one has finished.
  public static let askedOrder = Features(rawValue: 1 << 7)
  /// A wait returns at the finish, also when the body of what finished has not returned.
  public static let promptWaits = Features(rawValue: 1 << 8)
  /// Operations with asynchronous bodies.
  public static let tasks = Features(rawValue: 1 << 9)
  /// A body of a join sees the task-local values of where the join was made.
  public static let forkNames = Features(rawValue: 1 << 10)

  public static let all: Features = [
    .observerWaits, .postedObservers, .silentBlocks, .batchOrder, .releaseOrder, .workerOrder,
    .askedOrder, .promptWaits, .tasks, .forkNames,
  ]

  public static let names: [(name: String, feature: Features)] = [
    ("observer-waits", .observerWaits), ("posted-observers", .postedObservers),
    ("silent-blocks", .silentBlocks), ("batch-order", .batchOrder), ("release-order", .releaseOrder),
    ("worker-order", .workerOrder), ("asked-order", .askedOrder),
    ("prompt-waits", .promptWaits), ("tasks", .tasks), ("fork-names", .forkNames),
  ]

  /// From "all", "none", or names with commas; a name with a minus before it is taken out of all.
  public init?(_ text: String) {
    self = text.hasPrefix("-") || text == "all" ? .all : []
    guard text != "all", text != "none" else { return }
    for word in text.split(separator: ",") {
      let name = word.hasPrefix("-") ? word.dropFirst() : word
      guard let feature = Self.names.first(where: { $0.name == name })?.feature else { return nil }
      if word.hasPrefix("-") { remove(feature) } else { insert(feature) }
    }
  }
}
