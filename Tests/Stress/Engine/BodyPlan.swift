import Glibc
import TestSupport

/// What an operation's body does between begin and end, drawn before the operation is added.
struct BodyPlan: Sendable {
  var spins = 0
  var yields = false
  var sleepMicroseconds: UInt32 = 0
  /// How deep operations that add one and wait for it are nested; 0 for none.
  var nesting = 0
  var waitsFor: (any RecordedOperation)?
  var cancelsItself = false

  init(spins: Int = 0, nesting: Int = 0) {
    self.spins = spins
    self.nesting = nesting
  }

  static func draw(_ profile: StressProfile, _ random: inout SeededGenerator) -> BodyPlan {
    var plan = BodyPlan(spins: random.pick(0...200))
    plan.yields = random.chance(10)
    if random.chance(3) { plan.sleepMicroseconds = UInt32(random.pick(1...200)) }
    if random.chance(profile.nesting) { plan.nesting = random.pick(1...3) }
    return plan
  }

  func run(_ operation: any RecordedOperation, _ context: RoundContext) {
    if cancelsItself {
      operation.record.cancels(at: context.clock.next())
      operation.cancel()
      context.violations.require(operation.isExecuting, "\(operation.record) stopped executing when it was cancelled")
    }
    run()
    if nesting > 0 { runChild(of: operation.record, context) }
    if let other = waitsFor {
      other.waitUntilFinished()
      context.violations.require(other.isFinished, "\(operation.record) waited in vain for \(other.record)")
      context.checkMessage(of: other.record, from: operation.record)
    }
  }

  /// The part that needs no operation.
  func run() {
    var sum = 0
    for index in 0..<spins { sum &+= index }
    withExtendedLifetime(sum) {}
    if yields { sched_yield() }
    if sleepMicroseconds > 0 { usleep(sleepMicroseconds) }
  }

  private func runChild(of parent: OperationRecord, _ context: RoundContext) {
    let record = context.makeRecord(.child, queue: context.nested.index)
    let child = PlainStressOperation(record, context, BodyPlan(spins: spins, nesting: nesting - 1))
    let queue = context.nested.queue
    record.noteAdding(context.clock) { queue.addOperation(child) }
    child.waitUntilFinished()
    context.violations.require(child.isFinished, "\(parent) waited in vain for \(record)")
    context.violations.require(record.hasBegun, "\(parent) waited for \(record), which has not run")
    context.checkMessage(of: record, from: parent)
  }
}
