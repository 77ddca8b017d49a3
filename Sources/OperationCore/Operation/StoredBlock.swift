/// A closure of a user's, kept to be run later.
///
/// The closure has a type of its own, since a closure that goes through generic code (an optional's `map`, a lock's
/// result) gets an allocated wrapper each time, and a closure in a structure does not.
struct StoredBlock {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// A completion block, or none. The closure is optional inside the structure: taking an optional closure apart costs a
/// reference, and putting the whole of it here does not.
struct CompletionBlock {
  let run: (@Sendable () -> Void)?

  static var none: CompletionBlock { CompletionBlock(run: nil) }

  @inline(__always) var isNone: Bool { run == nil }
}
