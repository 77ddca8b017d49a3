import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// Asynchronous bodies that are added, wait, are cancelled in one go and awaited, in the form that users of the subject
/// write: operations of a queue, or children of a task group.
struct CancelTasks: Workload {
  let name = BenchmarkName("async", "cancel")
  let summary = "a task adds asynchronous bodies that wait, cancels all of them and awaits them"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.tasks

  func extendedParameterSets() -> [Parameters] { [["ops": "1000"]] }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    let waits = CancelledWaits(count: operations)
    return .task(of: operations, flags, on: subject, executor: subject.taskExecutor) {
      waits.reset()
      await subject.runCancelled(operations) { index in
        await waits.wait(index)
        if Task.isCancelled { flags.slot(index).mark() }
      } whenBegun: {
        await waits.allWait()
      }
    }
  }
}

/// Places in which tasks wait until they are cancelled.
private final class CancelledWaits: Sendable {
  private enum Place {
    case empty
    case waits(UnsafeContinuation<Void, Never>)
    case cancelled
  }

  private struct Arrivals {
    var missing = 0
    var whenAllWait: UnsafeContinuation<Void, Never>?
  }

  private let slots: [Box]
  private let arrivals = Mutex(Arrivals())

  /// A place that an array can hold.
  private final class Box: Sendable {
    let place = Mutex(Place.empty)
  }

  init(count: Int) { slots = (0..<count).map { _ in Box() } }

  func reset() {
    arrivals.withLock { $0 = Arrivals(missing: slots.count) }
    for slot in slots { slot.place.withLock { $0 = .empty } }
  }

  func wait(_ index: Int) async {
    let slot = slots[index]
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isCancelled = slot.place.withLock { place in
          if case .cancelled = place { return true }
          place = .waits(continuation)
          return false
        }
        arrive()
        if isCancelled { continuation.resume() }
      }
    } onCancel: {
      let place = slot.place.withLock { place in
        defer { place = .cancelled }
        return place
      }
      if case .waits(let continuation) = place { continuation.resume() }
    }
  }

  func allWait() async {
    await withUnsafeContinuation { continuation in
      let isOver = arrivals.withLock { arrivals in
        if arrivals.missing > 0 { arrivals.whenAllWait = continuation }
        return arrivals.missing == 0
      }
      if isOver { continuation.resume() }
    }
  }

  private func arrive() {
    let waiting = arrivals.withLock { arrivals in
      arrivals.missing -= 1
      return arrivals.missing == 0 ? arrivals.whenAllWait : nil
    }
    waiting?.resume()
  }
}
