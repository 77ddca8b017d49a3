import Glibc

/// A process that was started, and what is read of it until its end.
final class WatchedProcess {
  private let started: ProcessRunner.Started
  private let child: Child
  private let output: Pipe
  private let errors: Pipe
  private let limit: Int
  private let takesTurns: Bool
  private let now: () -> UInt64
  /// When the process is killed.
  private var deadline: UInt64
  private var watch: StandStill
  /// Why the process was killed.
  private var stopped: Ending?
  private var ended: (time: UInt64, stoodStill: UInt64) = (0, 0)
  /// How many bytes the process had written when its last turn ended.
  private var bytesOfTurns = 0
  /// Since when the process has waited for its turn.
  private var waitsSince: UInt64?
  /// How long the process has waited for its turns, in nanoseconds.
  private var waited: UInt64 = 0

  /// How long the outputs of a process are read after the process has ended, in nanoseconds. The outputs end with the
  /// process, unless something that the process has started holds them open.
  static let patience: UInt64 = 500_000_000
  /// The end of what a process has written that stops itself.
  private static let turn = Array("\(ResultLine.turn.text)\n".utf8)

  /// - Parameters:
  ///   - limit: the most bytes that the process may write to its standard output.
  ///   - seconds: how long the process may go on.
  ///   - watched: whether the kernel is asked to tell the end of the process.
  ///   - takesTurns: whether the process may stop itself behind the line `ResultLine.turn`.
  init(
    _ started: ProcessRunner.Started, _ output: Pipe, _ errors: Pipe, limit: Int, seconds: Double, watched: Bool,
    takesTurns: Bool, _ now: @escaping () -> UInt64
  ) {
    (self.started, self.output, self.errors, self.limit, self.now) = (started, output, errors, limit, now)
    self.takesTurns = takesTurns
    child = Child(started.identifier, watched: watched)
    deadline = started.began + UInt64(seconds * 1e9)
    watch = StandStill(since: now())
  }

  /// Lets the process go on until it has ended, or stops itself to wait for its turn.
  /// - Returns: how the process ended, and all bytes of its standard output; nil when the process waits.
  func goOn() -> (outcome: ProcessOutcome, output: [UInt8])? {
    if let since = waitsSince {
      waitsSince = nil
      let passed = now() - since
      waited += passed
      deadline += passed
      watch.begin(now())
      child.goOn()
    }
    guard follow() else { return nil }
    var isHeld = output.isOpen || errors.isOpen
    if isHeld { child.kill() }
    var (ending, usage) = child.collect()
    // What is left of the group would disturb what is measured next.
    if stopped == nil, child.hasLeftOthers { isHeld = true }
    if let counter = started.counter {
      usage.instructions = PerfCount.read(counter)
      close(counter)
    }
    if output.isOverfull { stopped = stopped ?? .printedTooMuch(limit) }
    let outcome = ProcessOutcome(
      ending: stopped ?? ending, lines: output.lines, lastWords: errors.lastLine,
      nanoseconds: ended.time - started.began - ended.stoodStill - waited, stoodStill: ended.stoodStill, usage: usage,
      isOutputHeld: isHeld)
    return (outcome, output.bytes)
  }

  /// Reads until the process waits for its turn, or has ended and both pipes are closed, or a short time beyond the end
  /// of the process. Kills a process that may not go on. A process gets its whole time though this one stood still; a
  /// process that is stopped for ever has its limit.
  /// - Returns: whether the process has ended.
  private func follow() -> Bool {
    var lastRead: UInt64?
    while true {
      let (time, state) = (now(), child.state)
      // The process may have written and stopped since the last time that its output was read.
      if takesTurns, state == .isStopped { output.readRest() }
      if isAtEndOfTurn, state != .hasEnded, stopped == nil {
        bytesOfTurns = output.bytes.count
        if child.waitUntilStopped() {
          waitsSince = now()
          return false
        }
        stopped = .wentOn
        child.kill()
      }
      let gap = watch.look(time, isStopped: state == .isStopped)
      if state != .isStopped { deadline += gap }
      if lastRead == nil, state == .hasEnded {
        lastRead = time + Self.patience
        ended = (time, watch.nanoseconds)
      }
      if let lastRead {
        guard output.isOpen || errors.isOpen else { break }
        guard time < lastRead, !Interrupt.isRequested else {
          output.readRest()
          errors.readRest()
          break
        }
      } else if stopped == nil {
        if Interrupt.isRequested {
          stopped = .interrupted
        } else if output.isOverfull {
          stopped = .printedTooMuch(limit)
        } else if time >= deadline {
          stopped = .timedOut
        }
        if stopped != nil { child.kill() }
      }
      let until = lastRead ?? (stopped == nil ? deadline : .max)
      child.wait(reading: [output, errors], for: until > time ? until - time : 0)
    }
    return true
  }

  /// Whether the process has written that it stops.
  private var isAtEndOfTurn: Bool {
    takesTurns && output.bytes.count > bytesOfTurns && output.bytes.suffix(Self.turn.count).elementsEqual(Self.turn)
  }
}
