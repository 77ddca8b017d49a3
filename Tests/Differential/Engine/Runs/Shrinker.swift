import TestSupport

/// Makes a failing program small: takes out what it fails without, in ever smaller pieces, until nothing more can go.
public struct Shrinker {
  /// Whether a program still fails in the same way.
  private let fails: (Program) -> Bool
  private let end: ContinuousClock.Instant

  public init(seconds: Double = 60, fails: @escaping (Program) -> Bool) {
    self.fails = fails
    end = .now + .seconds(seconds)
  }

  /// - Parameter category: of the failure that is to stay.
  public init(backend: TestBackend, settings: DifferentialSettings, category: String) {
    var quick = settings
    quick.patience = min(settings.patience, 2)
    let chosen = quick
    self.init { program in
      DifferentialRun.replay(program, on: backend, times: 40, chosen)?.category == category
    }
  }

  public func shrink(_ program: Program) -> Program {
    var best = program
    var changed = true
    while changed, ContinuousClock.now < end {
      changed = false
      changed = shrinkStatements(&best) || changed
      changed = simplify(&best) || changed
    }
    return dropUnused(best)
  }

  private func accept(_ candidate: Program, _ best: inout Program) -> Bool {
    guard candidate != best, ContinuousClock.now < end, fails(candidate) else { return false }
    best = candidate
    return true
  }

  private func shrinkStatements(_ best: inout Program) -> Bool {
    var changed = false
    var size = max(1, best.statements.count / 2)
    while size >= 1 {
      var start = 0
      while start < best.statements.count {
        var candidate = best
        candidate.statements.removeSubrange(start..<min(start + size, candidate.statements.count))
        if accept(candidate, &best) { changed = true } else { start += size }
      }
      size /= 2
    }
    return changed
  }

  /// Plainer operations, smaller batches, plainer queues.
  private func simplify(_ best: inout Program) -> Bool {
    var changed = false
    for index in best.operations.indices {
      var candidate = best
      candidate.operations[index] = .init(kind: .main)
      if accept(candidate, &best) { changed = true }
      var position = 0
      while position < best.operations[index].actions.count {
        candidate = best
        candidate.operations[index].actions.remove(at: position)
        if accept(candidate, &best) { changed = true } else { position += 1 }
      }
    }
    for index in best.statements.indices {
      guard case .batch(let operations, let queue, let wait) = best.statements[index] else { continue }
      for operation in operations {
        var candidate = best
        guard case .batch(let now, _, _) = candidate.statements[index] else { break }
        candidate.statements[index] = .batch(now.filter { $0 != operation }, queue: queue, wait: wait)
        if accept(candidate, &best) { changed = true }
      }
    }
    for index in best.queues.indices {
      var candidate = best
      candidate.queues[index] = .init(backend: 0)
      if accept(candidate, &best) { changed = true }
    }
    return changed
  }

  /// Without the operations and queues that nothing names.
  private func dropUnused(_ program: Program) -> Program {
    let named = Set(
      program.statements.flatMap(\.operations) + program.operations.flatMap { $0.actions.flatMap(\.operations) })
    let places = Set(
      program.statements.compactMap(\.queue) + program.operations.flatMap { $0.actions.compactMap(\.queue) })
    var best = program
    _ = accept(
      program.keeping(
        operations: program.operations.indices.filter(named.contains),
        queues: program.queues.indices.filter(places.contains)),
      &best)
    return best
  }
}
