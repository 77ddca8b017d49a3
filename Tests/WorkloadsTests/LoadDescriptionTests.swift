import LaboratorySupport
import Subjects
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessStatistics
@testable import HarnessWords
@testable import Workloads

/// Loads that users describe: how files are read, what is drawn from them, and what is measured.
struct LoadDescriptionTests {
  private static func load(_ text: String) throws -> LoadDescription {
    try LoadDescription(text, name: "mine", source: "mine.load") { _ in [1_000, 3_000] }
  }

  @Test func everyWord() throws {
    let load = try Self.load(
      """
      # A comment, and an empty line.

      rate = 2000   # requests per second
      service=exponential 400us
       arrivals = bursts
      urgent = 10 % 200us
      deadline = 2ms
      blocks = 2.5% 20ms
      tail = 10ms
      cpus = 2
      """)
    #expect(load.rate == 2_000 && load.service == .drawn(.exponential, mean: 400e3) && load.arrivals == .bursts)
    #expect(load.urgent == .init(share: 0.1, time: 200e3) && load.deadline == 2e6 && load.tail == 10e6)
    #expect(load.blocking == .init(share: 0.025, time: 20e6) && load.cpus == 2)
    #expect(load.meanService == 380e3 && abs(load.load(cpus: 2) - 0.38) < 1e-9)
    #expect(load.ways == [.plain, .urgentFirst, .urgentKept, .limited])
    #expect(load.factors(cpus: 2) == [0.5, 1, 1.5, 2])
  }

  /// A file from another system. Two characters end a line there, which are one to Swift.
  @Test func linesThatEndAsOnWindows() throws {
    let load = try Self.load("# first\r\nrate = 10\r\nservice = fixed 1ms\r\n")
    #expect(load.rate == 10 && load.service == .drawn(.fixed, mean: 1e6))
    let folder = TemporaryFolder()
    let trace = folder.write("us\r\n" + (1...100).map { "\($0)\r\n" }.joined(), to: "t.csv")
    #expect(try LoadDescription.times(trace).count == 100)
  }

  @Test func whatIsNotSaid() throws {
    let load = try Self.load("rate = 10\nservice = file times.csv")
    #expect(load.service == .measured([1_000, 3_000]) && load.service.mean == 2_000 && load.arrivals == .exponential)
    #expect(load.urgent == nil && load.blocking == nil && load.deadline == nil && load.cpus == nil)
    #expect(load.tail == 20_000 && load.ways == [.plain] && load.requests == 300)
    // The longest of the mean times counts.
    #expect(try Self.load("rate = 10\nservice = fixed 1ms\nblocks = 1 % 30ms").tail == 300e6)
  }

  @Test(arguments: [
    ("service = fixed 1ms", "'rate' is missing"), ("rate = 5", "'service' is missing"),
    ("rate = 0\nservice = fixed 1ms", "rate is the requests per second"),
    ("rate = nan\nservice = fixed 1ms", "not 'nan'"), ("rate = 2e6\nservice = fixed 1ms", "not '2e6'"),
    ("rate = 5\nservice = fixed", "service is a distribution and its mean"),
    ("rate = 5\nservice = often 1ms", "not 'often 1ms'"), ("rate = 5\nservice = fixed 1", "not 'fixed 1'"),
    ("rate = 5\nservice = fixed -1ms", "not 'fixed -1ms'"), ("rate = 5\nservice = fixed 2000s", "not 'fixed 2000s'"),
    ("rate = 5\nservice = fixed 1ms\narrivals = never", "arrivals is poisson, bursts, fixed, not 'never'"),
    ("rate = 5\nservice = fixed 1ms\nurgent = 100 % 1ms", "urgent is a share and a time"),
    ("rate = 5\nservice = fixed 1ms\nurgent = 10 %", "not '10 %'"),
    ("rate = 5\nservice = fixed 1ms\nblocks = 10 1ms", "not '10 1ms'"),
    ("rate = 5\nservice = fixed 1ms\ndeadline = 1ms", "'deadline' needs 'urgent'"),
    ("rate = 5\nservice = fixed 1ms\ncpus = 0", "cpus is a count from 1 to 1024"),
    ("rate = 5\nrate = 6", "line 2: 'rate' stands twice"), ("rate", "line 1: 'rate' has no '='"),
    ("rates = 5", "line 1: there is no word 'rates'; did you mean rate?"),
  ])
  func whatIsWrong(text: String, message: String) {
    let complaint = #expect(throws: Complaint.self) { try Self.load(text) }
    #expect(complaint?.code == .badInput)
    #expect(complaint.map { $0.description.hasPrefix("mine.load: ") && $0.description.contains(message) } == true)
  }

  @Test func traces() throws {
    let folder = TemporaryFolder()
    let times = (1...100).map { "\($0).5,a,b" }
    _ = folder.write("microseconds,what\n" + times.joined(separator: "\n") + "\n", to: "t.csv")
    #expect(try LoadDescription.times("\(folder.path)/t.csv") == (1...100).map { Double($0) * 1e3 + 500 })
    _ = folder.write("rate = 5\nservice = file t.csv\n", to: "mine.load")
    #expect(try LoadDescription.read(path: "\(folder.path)/mine.load").service.mean == 51e3)
    for (text, message) in [
      ("5\n", "1 time; a trace has 100"), ("", "0 times"), ("heading\nheading\n", "line 2 begins with 'heading'"),
      ("0\n1\n", "line 1 begins with '0'"), ("1\n-5\n", "line 2 begins with '-5'"), ("1\nnan\n", "begins with 'nan'"),
    ] {
      _ = folder.write(text, to: "bad.csv")
      let complaint = #expect(throws: Complaint.self) { try LoadDescription.times("\(folder.path)/bad.csv") }
      #expect(complaint?.description.contains(message) == true, "\(String(describing: complaint))")
    }
    #expect(throws: Complaint(.noInput, "\(folder.path)/none: there is no such load file")) {
      try LoadDescription.read(path: "\(folder.path)/none")
    }
    #expect(throws: Complaint.self) { try LoadDescription.read(path: folder.path) }
  }

  /// The loads that the pages name.
  @Test(arguments: ["web", "crawler", "pictures"])
  func workedLoads(name: String) throws {
    let root = "\(#filePath)".dropLast("Tests/WorkloadsTests/LoadDescriptionTests.swift".count)
    let load = try LoadDescription.read(path: "\(root)Examples/Loads/\(name).load")
    #expect(load.name == name && load.load(cpus: 2) < 0.5 && load.factors(cpus: 2).count >= 3)
  }

  @Test func sharesAreDrawn() throws {
    let load = try Self.load("rate = 9000\nservice = fixed 10us\nurgent = 20 % 5us\nblocks = 5 % 1ms")
    let (stream, isUrgent) = load.stream(seed: 3)
    #expect(isUrgent.count == 9_000 && abs(isUrgent.count { $0 } - 1_800) < 200)
    #expect(abs(stream.sleeps.count { $0 == 1e6 } - 450) < 100 && stream.sleeps.allSatisfy { $0 == 0 || $0 == 1e6 })
    for index in isUrgent.indices {
      #expect(
        stream.isLessUrgent[index] == !isUrgent[index] && stream.services[index] == (isUrgent[index] ? 5e3 : 10e3))
    }
    #expect(load.stream(seed: 3).isUrgent == isUrgent && load.stream(seed: 4).isUrgent != isUrgent)
  }

  private static func value<S: OperationSubject>(
    _ load: LoadDescription, _ way: LoadDescription.Way, on subject: S.Type
  ) throws -> [String: Double] {
    let setting = Setting(
      parameters: ["way": way.rawValue, "times": "2"], workers: 2, seed: 1, spin: Spin(roundsPerMicrosecond: 1))
    let value = try DescribedLoad(load).prepare(operations: subject, setting).measure(1)
    #expect(value.readings.map(\.metric) == DescribedLoad(load).metrics)
    return Dictionary(uniqueKeysWithValues: value.readings.map { ($0.metric.name, $0.value) })
  }

  /// Each request runs once, whatever is done, and the numbers are those of all requests.
  @Test(arguments: LoadDescription.Way.allCases)
  func everyWay(way: LoadDescription.Way) throws {
    let load = try Self.load("rate = 5e4\nservice = fixed 5us\nurgent = 20 % 5us\nblocks = 1 % 100us\ntail = 60s")
    let found = try Self.value(load, way, on: StealingSubject.self)
    #expect(found["late_p99_percent"] == 0 && found["urgent_late_p99_percent"] == 0)
    #expect(found["sojourn_p50_ns"]! <= found["sojourn_p99_ns"]!)
    // Sleeping is a part of being there.
    #expect(found["sojourn_p999_ns"]! >= 100e3)
  }

  @Test func whoIsTooSlowIsLate() throws {
    let load = try Self.load("rate = 1e4\nservice = fixed 1us\ntail = 500us")
    let setting = Setting(
      parameters: ["way": "plain", "times": "1"], workers: 1, seed: 1, spin: Spin(roundsPerMicrosecond: 1))
    let value = try DescribedLoad(load).prepare(closures: SluggishSubject.self, setting).measure(1)
    let found = Dictionary(uniqueKeysWithValues: value.readings.map { ($0.metric.name, $0.value) })
    #expect(found["late_p99_percent"] == 100 && found["ideal_late_p99_percent"] == 0)
    #expect(found["sojourn_p50_ns"]! > 1e6 && found["ideal_sojourn_p99_ns"]! < 500e3)
    for parameters: Parameters in [["way": "urgent-first", "times": "1"], ["way": "plain", "times": "0"], [:]] {
      let setting = Setting(parameters: parameters, workers: 1, seed: 1, spin: Spin(roundsPerMicrosecond: 1))
      #expect(throws: Complaint.self) { try DescribedLoad(load).prepare(closures: SluggishSubject.self, setting) }
    }
  }
}
