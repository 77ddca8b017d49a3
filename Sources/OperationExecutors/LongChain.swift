import CPlatform

/// Steps that lead to steps of the same kind: raising a body raises what the body awaits, and cancelling does likewise.
/// The runtime makes each step inside of the one before. A step that comes too deep waits until the outermost one
/// returns, so that a chain of any length fits into a thread's stack.
///
/// The outermost call returns when all steps have been made. It lies on the stack of the thread, and no other thread
/// knows it.
package struct LongChain {
  /// How many steps lie inside of each other. One step of the runtime takes about a kilobyte of the stack.
  private static let deepest = 32

  private var depth = 1
  /// The steps that wait, the first to be made first.
  private var later: [() -> Void] = []
  private var next = 0

  /// Makes a step now, or, deep inside of others, before the outermost step returns.
  package static func step(_ body: @escaping () -> Void) {
    guard let chain = cplatform_long_chain()?.assumingMemoryBound(to: LongChain.self) else { return begin(body) }
    if chain.pointee.depth == deepest { return chain.pointee.later.append(body) }
    chain.pointee.depth += 1
    body()
    chain.pointee.depth -= 1
  }

  private static func begin(_ body: () -> Void) {
    var chain = LongChain()
    withUnsafeMutablePointer(to: &chain) { chain in
      cplatform_set_long_chain(chain)
      body()
      while let next = chain.pointee.takeNext() { next() }
      cplatform_set_long_chain(nil)
    }
  }

  private mutating func takeNext() -> (() -> Void)? {
    guard next < later.count else {
      later.removeAll(keepingCapacity: true)
      next = 0
      return nil
    }
    defer { next += 1 }
    let step = later[next]
    // What the step holds goes with the step.
    later[next] = {}
    return step
  }
}
