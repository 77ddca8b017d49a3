/// A closure of a user's, kept to be run later.
///
/// The closure has a type of its own, since a closure that goes through generic code (an optional's `map`, a lock's
/// result) gets an allocated wrapper each time, and a closure in a structure does not.
struct StoredBlock {
  let run: @Sendable () -> Void

  init(_ run: @escaping @Sendable () -> Void) { self.run = run }

  init?(_ run: (@Sendable () -> Void)?) {
    guard let run else { return nil }
    self.run = run
  }
}
