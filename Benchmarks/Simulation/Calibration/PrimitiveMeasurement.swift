import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Primitives
import Synchronization

/// Times of the primitives from which the pools are made.
enum PrimitiveMeasurement {
  private static let count = 1_000
  private static let repeats = 21

  /// How long one of `count` steps takes: the median over `repeats` times.
  private static func each(of count: Int = count, _ body: () -> Void, prepare: () -> Void = {}) -> Double {
    Statistics.median(
      (0..<repeats).map { _ in
        prepare()
        let start = Clock.now()
        body()
        return Double(Clock.now() - start) / Double(count)
      })
  }

  /// The steps that one thread takes alone.
  static func measureAlone() -> [String: Double] {
    var values: [String: Double] = [:]
    let deque = WorkStealingDeque(capacity: 2_048)
    func fill() {
      for word in 1...UInt(count) {
        deque.push(word)
        atomicMemoryFence(ordering: .sequentiallyConsistent)
      }
    }
    func empty() { while deque.takeFirst() != 0 {} }
    values["add"] = each(fill, prepare: empty)
    empty()
    values["take"] = each(empty, prepare: fill)
    let others = (0..<1_024).map { _ in WorkStealingDeque(capacity: 2) }
    func look() {
      var filled = 0
      for other in others where !other.isEmpty { filled += 1 }
      precondition(filled == 0, "an empty deque shows a job")
    }
    values["look"] = each(of: others.count, look)
    deque.deallocate()
    for other in others { other.deallocate() }
    let nodes = UnsafeMutablePointer<Node>.allocate(capacity: count)
    nodes.initialize(repeating: Node(), count: count)
    defer { nodes.deallocate() }
    let injector = Injector<NodeLink>()
    func push() { for index in 0..<count { injector.push(UInt(bitPattern: nodes + index)) } }
    func take() {
      var batch = IntrusiveFIFO<NodeLink>()
      for _ in 0..<count {
        _ = injector.take(limit: 1, consumerCount: 1, into: &batch)
        _ = batch.popFirst()
      }
    }
    values["submit"] = each(push, prepare: take)
    take()
    values["take_outside"] = each(take, prepare: push)
    let lock = Locked(0)
    values["list"] = each { for _ in 0..<count { lock.withLock { lock.state += 1 } } }
    return values
  }

  /// The steps between two threads: within a group of CPUs, and between groups and sockets as far as there are any.
  /// Throws when the system has no second thread.
  static func measureInPairs() throws -> [String: Double] {
    var values: [String: Double] = [:]
    let groups = CPUGroups()
    for (distance, suffix) in ModelMeasurement.distances {
      let places = groups.pair(distance)
      // CPUs of which the kernel says nothing are of one group.
      if places == nil, distance != .sameGroup { continue }
      let pair = ThreadPair()
      guard
        PlatformThread.start(
          name: "calibration",
          {
            if let places { CPUs.begin(on: places.second) }
            pair.answer()
          })
      else {
        throw Complaint(.unavailable, "calibrate-model needs a second thread, and the system has none to give")
      }
      if let places { CPUs.begin(on: places.first) }
      let transfer = pair.measure(.transfer)
      values["transfer" + suffix] = transfer
      values["steal" + suffix] = max(0, pair.measure(.steal) - transfer)
      values["miss" + suffix] = pair.measure(.miss)
      values["glance" + suffix] = pair.measure(.glance)
      if distance == .sameGroup { (values["wake"], values["wake_latency"]) = pair.measureWakes() }
      pair.end()
    }
    return values
  }

  /// As large as an operation: two lines.
  struct Node {
    var link: UInt = 0
    var rest = InlineArray<15, UInt>(repeating: 0)
  }

  enum NodeLink: IntrusiveNode {
    private static func pointer(_ node: UInt) -> UnsafeMutablePointer<Node> {
      UnsafeMutablePointer(bitPattern: node).unsafelyUnwrapped
    }
    static func next(of node: UInt) -> UInt { pointer(node).pointee.link }
    static func setNext(of node: UInt, to next: UInt) { pointer(node).pointee.link = next }
  }
}

/// Two threads that take steps in turn: the calling one prepares, the other one answers and takes the time.
private final class ThreadPair: @unchecked Sendable {
  // Sendable: the atomics order all accesses. A step is prepared before `request` is stored, and answered before
  // `answered` is stored; the memory behind the other properties is touched by one of the threads at a time.
  enum Step: Int {
    case steal = 1
    case miss
    case transfer
    case glance
    case wake
    case end
  }

  private let request = PaddedPointer(Atomic<Int>(0))
  private let answered = PaddedPointer(Atomic<Int>(0))
  private let time = PaddedPointer(Atomic<UInt64>(0))
  private let deque = WorkStealingDeque(capacity: 256)
  private let lines = UnsafeMutablePointer<PrimitiveMeasurement.Node>.allocate(capacity: 64)
  private let others = (0..<256).map { _ in WorkStealingDeque(capacity: 2) }
  /// A line that both threads want: whose turn it is.
  private let ball = PaddedPointer(Atomic<Int>(0))
  private let parker = Parker()
  private static let repeats = 301
  private static let bounces = 5_000
  private static let wakes = 101

  init() { lines.initialize(repeating: PrimitiveMeasurement.Node(), count: 64) }

  private func ask(_ step: Step) {
    answered.pointer.pointee.store(0, ordering: .relaxed)
    request.pointer.pointee.store(step.rawValue, ordering: .releasing)
  }

  private func waitForAnswer() -> Double {
    while answered.pointer.pointee.load(ordering: .acquiring) == 0 {}
    return Double(time.pointer.pointee.load(ordering: .relaxed))
  }

  func measure(_ step: Step) -> Double {
    if step == .transfer {
      return Statistics.median(
        (0..<21).map { _ in
          ball.pointer.pointee.store(0, ordering: .relaxed)
          ask(.transfer)
          bounce(0)
          // The line goes to and fro.
          return waitForAnswer() / Double(2 * Self.bounces)
        })
    }
    let clock = Statistics.median((0..<Self.repeats).map { _ in Double(-Int64(Clock.now()) + Int64(Clock.now())) })
    return Statistics.median(
      (0..<Self.repeats).map { turn in
        deque.push(1)
        for other in others {
          other.push(1)
          _ = other.takeFirst()
        }
        for line in 0..<64 { lines[line].rest[14] = UInt(turn) }
        for line in 0..<64 { lines[line].link = UInt(turn) }
        ask(step)
        let time = waitForAnswer()
        while deque.takeFirst() != 0 {}
        switch step {
        case .miss: return time / 64
        case .glance: return time / Double(others.count)
        default: return time - clock
        }
      })
  }

  /// What a wake costs its caller, and how long the thread takes after that.
  func measureWakes() -> (wake: Double, latency: Double) {
    let samples = (0..<Self.wakes).map { _ -> (Double, Double) in
      ask(.wake)
      Pacer.sleep(nanoseconds: 300_000)
      let start = Clock.now()
      parker.unpark()
      let end = Clock.now()
      let woken = waitForAnswer()
      return (Double(end - start), woken - Double(end))
    }
    return (Statistics.median(samples.map(\.0)), Statistics.median(samples.map(\.1)))
  }

  func end() {
    ask(.end)
    _ = waitForAnswer()
    deque.deallocate()
    for other in others { other.deallocate() }
    lines.deallocate()
  }

  /// Takes the ball as often as it comes, and throws it to the other thread.
  private func bounce(_ own: Int) {
    for _ in 0..<Self.bounces {
      while !ball.pointer.pointee.compareExchange(
        expected: own, desired: 1 - own, ordering: .acquiringAndReleasing
      ).exchanged {}
    }
  }

  /// The life of the other thread.
  func answer() {
    while true {
      let step = request.pointer.pointee.exchange(0, ordering: .acquiring)
      switch Step(rawValue: step) {
      case nil: continue
      case .steal: reply { _ = deque.steal() }
      case .miss: readTwice { readLines() }
      case .glance: readTwice { lookAtOthers() }
      case .transfer: reply { bounce(1) }
      case .wake:
        parker.park()
        reply(Clock.now())
      case .end: return reply(1)
      }
    }
  }

  private func reply(_ body: () -> Void) {
    let start = Clock.now()
    body()
    reply(Clock.now() - start)
  }

  private func reply(_ value: UInt64) {
    time.pointer.pointee.store(value, ordering: .relaxed)
    answered.pointer.pointee.store(1, ordering: .releasing)
  }

  /// The time of a first read, less that of a second one.
  private func readTwice(_ read: () -> Void) {
    func time() -> UInt64 {
      let start = Clock.now()
      read()
      return Clock.now() - start
    }
    let first = time()
    let second = time()
    reply(first > second ? first - second : 0)
  }

  private func readLines() {
    var sum: UInt = 0
    // Out of order: the CPU fetches lines that are read in order before they are asked for.
    for step in 0..<64 { sum &+= lines[step * 37 & 63].link &+ lines[step * 37 & 63].rest[14] }
    lines[0].rest[0] = sum
  }

  private func lookAtOthers() {
    var filled: UInt = 0
    for other in others where !other.isEmpty { filled += 1 }
    lines[0].rest[1] = filled
  }
}
