import OperationCore
import OperationJobs
import VirtualScheduling

/// What the lock of a driver guards.
struct DriverState: ~Copyable {
  let pool: VirtualPool
  var baton = Baton()
  var waits = Waits()
  var carriers = Carriers()
  var work = Work()
  var test = Test()
  var ending = Ending()
  var records: StepRecords
  /// A line has told that the run is not that of its seed, or stands still.
  var hasComplained = false

  init(_ pool: VirtualPool, records: Bool) {
    self.pool = pool
    self.records = StepRecords(isOn: records)
  }

  /// The right to go on.
  struct Baton {
    var holder = Holder.nobody
    /// Where the driver sleeps, while nothing can happen.
    var sleeper: Seat?

    enum Holder {
      case nobody
      /// A thread that chooses the next step, or sleeps until there is one.
      case driver
      case strand(Strand)
    }
  }

  /// What a task does between two suspensions.
  struct Part {
    let job: Job
    /// What goes on, in a record of steps.
    let label: String
    /// Whether the part sleeps only since others have made many steps.
    let isPause: Bool
  }

  /// What waits for a condition, a time or its turn.
  struct Waits {
    /// What each timer of the pool stands for, by the timer's number.
    var timers: [Int: Timer] = [:]
    /// Those whose condition is looked at after each step, in the order in which they began to wait.
    var forConditions: [Waiter] = []
    /// Guests that wait until nothing is left to happen.
    var forRest: [Waiter] = []
    /// Guests without their turn: as long as there are some, jobs run.
    private(set) var guests = 0
    /// Guests for whom the time may go on by itself.
    private(set) var guestsWithTime = 0
    /// How many guests have come so far.
    private(set) var arrivals = 0

    /// Counts a guest that waits.
    mutating func guestEnters(_ guest: Waiter) {
      guests += 1
      arrivals += 1
      if guest.allowsTime { guestsWithTime += 1 }
    }

    /// Counts a guest that does not wait any more.
    mutating func guestLeaves(_ guest: Waiter) {
      guests -= 1
      if guest.allowsTime { guestsWithTime -= 1 }
    }

    /// Counts a task that waits for an operation, or does not any more. It is not told when: the finish tells it.
    mutating func countTask(_ change: Int) {
      if change > 0 { arrivals += 1 }
      guests += change
      guestsWithTime += change
    }

    enum Timer {
      case turn(Waiter)
      /// A question to a subclass, which counts as a job from the start.
      case question(Job)
      /// A part of the body of an asynchronous test, which counts as a job from the start.
      case test(Part)
      /// A part of a seeded task that sleeps. It counts as a job when it is due, and is dropped at the test's end.
      case sleep(Part)
      /// A block that counts as a job when it is due, and is dropped when the backend ends before.
      case block(@Sendable () -> Void)
    }
  }

  /// The real threads of the backend.
  struct Carriers {
    var all: [Carrier] = []
    /// The carrier that went idle last is the last element.
    var idle: [Carrier] = []

    /// Forgets a carrier that ends, or that did not begin.
    mutating func remove(_ carrier: Carrier) { all.removeAll { $0 === carrier } }
  }

  /// What runs, and what is to run.
  struct Work {
    /// Jobs that were submitted and have not ended.
    var jobs = 0
    /// Strands that go on beside the one with the baton.
    private(set) var adrift: [Strand] = []
    private var strandCount = 0

    /// Makes a strand with the next number.
    mutating func newStrand(of job: Job, worker: Int?, isOfTest: Bool) -> Strand {
      strandCount += 1
      return Strand(number: strandCount, worker: worker, job: job, isOfTest: isOfTest)
    }

    /// Notes that a strand goes on beside the one with the baton.
    /// - Parameter computes: whether the strand computes, as far as the monitor knows. If not, it blocks.
    mutating func setAdrift(_ strand: Strand, computes: Bool) {
      (strand.isAdrift, strand.computes) = (true, computes)
      adrift.append(strand)
    }

    /// Notes that a strand adrift is back in the order, or has ended.
    mutating func endAdrift(_ strand: Strand) {
      (strand.isAdrift, strand.computes) = (false, false)
      adrift.removeAll { $0 === strand }
    }
  }

  /// The body of an asynchronous test.
  struct Test {
    /// A part behind the first n of one instant sleeps first, so that the clock goes on.
    static let mostPartsNow = 10_000
    /// How long that part sleeps, in nanoseconds.
    static let pollingPause: Int64 = 1_000_000
    /// Behind the end of the body this number of parts may still be handed over: one that polls would go on for ever.
    static let mostPartsBehindEnd = 100_000
    /// A seeded test with this number of steps has no end.
    static let mostSteps = 1_000_000

    var isUnderWay = false
    /// Parts of the body that run or are to run: each is a guest.
    var parts = 0
    /// How many parts were handed over at the present time.
    var partsNow = 0
    /// The parts, jobs and blocks since the beginning, or since the test was cancelled.
    var steps = 0
    var partsBehindEnd = 0
    /// The present time of `partsNow`.
    var time: Int64 = 0
    /// The body has awaited something that the backend does not know for too long, and counts as a guest.
    var isGuest = false

    var isPolling: Bool { partsNow > Self.mostPartsNow }
    var polledBehindEnd: Bool { partsBehindEnd > Self.mostPartsBehindEnd }

    /// Counts a part that is handed over.
    /// - Returns: whether the test has no end.
    mutating func countPart(at now: Int64) -> Bool {
      if time != now { (time, partsNow) = (now, 0) }
      partsNow += 1
      if !isUnderWay { partsBehindEnd += 1 }
      return countStep()
    }

    /// - Returns: whether the test has no end: true for the millionth step, and for each one that is a million behind.
    mutating func countStep() -> Bool {
      steps += 1
      return steps.isMultiple(of: Self.mostSteps)
    }
  }

  /// How far the end of the backend has come.
  struct Ending {
    /// Jobs from outside are refused, and the rest runs.
    var isStopping = false
    /// The jobs are done and the threads end.
    var isOver = false
    /// The test has failed: what waits is given up when nothing has happened for `patience`.
    var mayGiveUp = false
    /// What waited was given up. The threads stay where they wait, and nothing runs any more.
    var gaveUp = false
  }
}
