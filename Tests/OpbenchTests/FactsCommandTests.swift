import HarnessMeasuring
import HarnessWords
import LaboratorySupport
import TestSupport
import Testing

/// The document of facts and the limits, as the program writes them.
@Suite(.ownThread) struct FactsCommandTests {
  let folder = TemporaryFolder()

  /// A chain on our queue takes twice the time of raw Dispatch, in seven blocks.
  private static let rows =
    CSV.line(CSV.header)
    + (1...7).flatMap { block in
      [("stealing", 200), ("raw-dispatch", 100)].map { subject, time in
        CSV.line([
          "2", "r", "\(block)", "1", "1", "dependencies", "chain", "length=1000", subject, "2", "ns_per_op", "ns",
          "\(time)", "1", "",
        ])
      }
    }.joined()

  private static func limit(_ most: Double) -> String {
    "[{\"label\": \"chain\", \"benchmark\": \"dependencies/chain\", \"params\": \"length=1000\", \"metric\": \"ns_per_op\", "
      + "\"subject\": \"stealing\", \"over\": {\"subject\": \"raw-dispatch\"}, \"most\": \(most)}]"
  }

  private func run(_ arguments: String...) -> ProcessOutcome {
    ProcessRunner.run(BuiltOpbench.path, arguments, timeout: 120)
  }

  @Test func limitsAreMetOrMissed() throws {
    let csv = folder.write(Self.rows, to: "a.csv")
    let (met, missed) = (folder.write(Self.limit(2.5), to: "met"), folder.write(Self.limit(0.8), to: "missed"))
    let good = run("compare", csv, "--limits", met)
    #expect(good.ending == .exited(0) && good.lines.last == "met: 1", "\(good)")
    let bad = run("compare", csv, "--limits", missed)
    #expect(bad.ending == .exited(70) && bad.lines.contains { $0.contains("x2.00 [2.00, 2.00]") }, "\(bad)")
    #expect(bad.lines.last == "missed: 1" && bad.lastWords?.contains("--limits: 1 of 1 limit missed") == true, "\(bad)")
    let facts = try JSONTree(run("compare", csv, "--limits", missed, "--format", "json").lines.joined(separator: "\n"))
    #expect(facts["schema"].number == 3 && facts["limits"][0]["verdict"].text == "missed")
    #expect(facts["limits"][0]["text"].text == "x2.00 [2.00, 2.00]" && facts["limits"][0]["most_text"].text == "x0.8")
    #expect(run("compare", "--limits", met, "--needs").lines == ["^dependencies/chain length=1000$"])
  }

  @Test func mistakesAboutLimitsAreOneLine() throws {
    let csv = folder.write(Self.rows, to: "a.csv")
    let limits = folder.write(Self.limit(1), to: "l.json")
    let wrong = folder.write("{}", to: "wrong.json")
    expectComplaint(64, ["--limits takes the results"], ["compare", "--limits", limits])
    expectComplaint(64, ["--format json alone"], ["compare", csv, "--limits", limits, "--strict"])
    expectComplaint(64, ["--needs is for --limits"], ["compare", csv, "--needs"])
    expectComplaint(65, ["wrong.json is not a list of limits"], ["compare", csv, "--limits", wrong])
    expectComplaint(66, ["no.json"], ["compare", csv, "--limits", "\(folder.path)/no.json"])
  }

  @Test func theReportWritesItsFacts() throws {
    let csv = folder.write(Self.rows, to: "a.csv")
    let written = try JSONTree(run("report", csv, "--facts", "-").lines.joined(separator: "\n"))
    #expect(written["measured"]["arms"].list.map { $0["name"].text } == ["raw-dispatch@2", "stealing@2"])
    #expect(written["measured"]["reference"] == .null)
    let file = "\(folder.path)/facts.json"
    #expect(run("report", csv, "--facts", file, "--reference", "raw-dispatch").ending == .exited(0))
    let facts = try JSONTree(try #require(folder.read("facts.json")))
    #expect(facts["measured"]["lines"][0]["cells"][1]["ratio"]["number"].text == "2.00")
    let compared = try JSONTree(
      run("compare", csv, "--reference", "raw-dispatch", "--format", "json").lines.joined(separator: "\n"))
    #expect(compared["measured"]["lines"] == facts["measured"]["lines"])
    #expect(compared["comparison"]["lines"][0]["verdict"].text == "slower")
    expectComplaint(64, ["is given twice"], ["report", csv, csv, "--facts", "-"])
    expectComplaint(64, ["--output DIR", "--facts"], ["report", csv])
    expectComplaint(64, ["have no place beside it"], ["report", csv, "--facts", "-", "--no-page"])
    expectComplaint(64, ["--claims needs --facts"], ["report", csv, "--output", folder.path, "--claims", "a"])
    expectComplaint(64, ["nothing to make"], ["report", csv, "--output", folder.path, "--no-page", "--no-pictures"])
    expectComplaint(
      64, ["--reference: nobody was not measured"], ["report", csv, "--facts", "-", "--reference", "nobody"])
    expectComplaint(66, ["no.csv"], ["report", "\(folder.path)/no.csv", "--facts", "-"])
  }

  @Test func simulatedRowsAreComparedToo() throws {
    let csv = "\(folder.path)/s.csv"
    let simulated = run(
      "simulate", "--graph", "stencil_1d(width=8;steps=4)", "--backend", "stealing,stealing(own=lifo)", "--workers",
      "1,4",
      "--repeats", "2", "--output", csv)
    #expect(simulated.ending == .exited(0), "\(simulated)")
    let table = run("compare", csv)
    #expect(table.lines.first?.hasPrefix("simulated: no CPU ran these tasks") == true, "\(table)")
    #expect(table.lines.contains { $0.hasPrefix("stealing(own=lifo)") && $0.contains("x1.00") }, "\(table)")
    let facts = try JSONTree(run("compare", csv, "--format", "json").lines.joined(separator: "\n"))
    #expect(facts["simulated"]["workers"].numbers == [1, 4] && facts["sources"][0]["rows"].number == 8)
    #expect(facts["sources"][0]["environment"]["model"]["name"].text != nil)
    let measured = folder.write(Self.rows, to: "a.csv")
    let both = try JSONTree(run("report", csv, measured, "--facts", "-").lines.joined(separator: "\n"))
    #expect(both["measured"]["lines"].list.count == 1 && both["simulated"] == facts["simulated"])
    expectComplaint(64, ["simulated rows are compared"], ["compare", csv, measured])
    expectComplaint(
      64, ["--reference is for results of run"], ["report", csv, "--facts", "-", "--reference", "stealing"])
  }
}
