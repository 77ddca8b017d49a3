import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessRunning
@testable import HarnessWords

/// `--trace`: extra processes behind the others, whose pieces make one file.
struct TraceTests {
  @Test func theTracedProcessesComeLastAndAreNotTimed() {
    var plan = Sample.plan()
    let before = plan.steps
    plan.traced = [Sample.ours.subject]
    #expect(Array(plan.steps.prefix(before.count)) == before)
    #expect(plan.steps.dropFirst(before.count) == [.trace(CellKey(Sample.scenario, Sample.ours))])
    let effects = FakeEffects()
    let result = effects.run(plan)
    let traced = effects.requests.compactMap { if case .trace(let request) = $0.mode { request } else { nil } }
    #expect(traced.map(\.name) == ["\(Sample.scenario) \(Sample.ours)"] && traced[0].process == 1)
    #expect(traced[0].repeats == 10 && traced[0].operationLimit == 20_000)
    if case .trace = effects.requests.last?.mode {} else { Issue.record("it is not the last") }
    #expect(effects.timed.count == 4 && result.rows.count == 4 && result.failures.isEmpty)
  }

  @Test func aTraceThatFailsCostsNoNumbers() {
    var plan = Sample.plan()
    plan.traced = [Sample.ours.subject]
    let effects = FakeEffects()
    effects.answer = { request in
      guard case .trace = request.mode else { return FakeEffects.success(request) }
      return FakeEffects.outcome(.exited(1), [], lastWords: "no disk")
    }
    let result = effects.run(plan)
    #expect(result.failures.isEmpty && result.rows.count == 4)
    #expect(effects.said.contains { $0.hasPrefix("no trace of ") && $0.hasSuffix("no disk") }, "\(effects.said)")
  }

  @Test func whatIsShownIsLimited() {
    #expect([1, 10, 40, 1_000].map(TraceRequest.operationLimit) == [20_000, 20_000, 5_000, 1_000])
    func repeats(_ wanted: Int, _ operations: Int) -> Int {
      TraceRequest(file: "", name: "", process: 1, repeats: wanted, operationLimit: 1)
        .repeats(of: Trial(operationsPerRepeat: operations, measure: { _ in throw CheckFailed("") }))
    }
    #expect(repeats(1_000, 1) == 1_000 && repeats(5_000, 1) == 2_000 && repeats(9, 500) == 4)
    #expect(repeats(9, 100_000) == 1 && repeats(1, 1) == 1)
  }

  @Test func requestsAndLinesGoThereAndBack() throws {
    let mode = MeasureRequest.Mode.trace(
      TraceRequest(file: "a.json", name: "a b", process: 3, repeats: 2, operationLimit: 9))
    let request = MeasureRequest(
      cell: CellKey(Sample.scenario, Sample.ours), mode: mode, seed: 1, spin: Spin(roundsPerMicrosecond: 1))
    #expect(try MeasureRequest(encoded: request.encoded()) == request)
    let line = ResultLine.traced(operations: 5, notShown: 2)
    #expect(ResultLine(line.text) == line)
    #expect(ResultLine("traced\t5") == nil && ResultLine("traced\tfive\t2") == nil)
  }

  @Test func nothingIsMeasuredWhileTraced() {
    let trial = Trial(operationsPerRepeat: 1) { _ in throw CheckFailed("measured") }
    let tracer = Tracer(isOn: { true }, start: {}, stop: {}, write: { _ in (0, 0) })
    for mode: MeasureRequest.Mode in [.calibrate(target: 1, limit: 1), .time(repeats: 1, values: 1)] {
      var lines: [ResultLine] = []
      MeasuringProcess(trial, tracer: tracer) { lines.append($0) }.run(mode)
      #expect(lines.count == 1)
      if case .failure(let text) = lines[0] { #expect(text.contains("OPERATIONS_TRACE")) }
    }
  }

  @Test func theFileIsReplacedAsAWholeOrNotAtAll() throws {
    let folder = TemporaryFolder()
    let path = folder.write("earlier", to: "t.json")
    func request(_ process: Int32, _ output: TraceOutput) -> TraceRequest {
      TraceRequest(file: output.piece(process), name: "", process: process, repeats: 1, operationLimit: 1)
    }
    do {
      let output = try TraceOutput(path)
      // What a process that was killed leaves.
      _ = folder.write("half", to: "t.json.partial.1")
      _ = folder.write("half", to: "t.json.partial.2.partial")
      #expect([1, 2].map(output.piece) == ["\(path).partial.1", "\(path).partial.2"])
    }
    #expect(folder.read("t.json") == "earlier" && folder.contents == ["t.json"])
    let output = try TraceOutput(path)
    for process: Int32 in [1, 2] {
      let request = request(process, output)
      _ = folder.write(
        "{\"ph\":\"M\",\"pid\":\(process),\"name\":\"process_name\",\"args\":{\"name\":\"p\(process)\"}}",
        to: "t.json.partial.\(process)")
      try output.add(request, operations: 3, notShown: 1)
    }
    #expect(throws: Complaint.self) { try output.add(request(3, output), operations: 0, notShown: 0) }
    #expect(folder.read("t.json") == "earlier")
    try output.publish(["run": "a \"run\""])
    #expect(folder.contents == ["t.json"])
    let trace = CheckedTrace(try #require(folder.read("t.json")))
    #expect(trace.problems.isEmpty && trace.processNames == [1: "p1", 2: "p2"])
    #expect(trace.facts == ["run": "a \"run\""] && output.operations == 6 && output.notShown == 2)
    #expect(throws: Complaint.self) { try TraceOutput("\(folder.path)/t.txt") }
    #expect(throws: Complaint.self) { try TraceOutput("/no/such/folder/t.json") }
  }
}
