import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring

/// `opbench load` as a user meets it.
@Suite(.ownThread) struct LoadCommandTests {
  let folder = TemporaryFolder()

  private func run(_ arguments: [String]) -> ProcessOutcome {
    ProcessRunner.run(BuiltOpbench.path, arguments, timeout: 120)
  }

  private func write(_ text: String) -> String { folder.write(text, to: "shop.load") }

  @Test func theAnswer() throws {
    let file = write("rate = 2000\nservice = fixed 20us\nurgent = 10 % 20us\ntail = 30s\ncpus = 1\n")
    let outcome = run([
      "load", file, "--backend", "stealing,raw-dispatch", "--blocks", "1", "--output", "\(folder.path)/a.csv",
    ])
    #expect(outcome.ending == .exited(0), "\(outcome)")
    let lines = outcome.lines
    #expect(lines.contains { $0.hasPrefix("shop: 2000 requests a second, 4.0 % of 1 CPU") }, "\(lines)")
    // What has no priorities has one way. Where other guests have the CPUs, no block counts.
    let rows = lines.filter { $0.hasPrefix("stealing ") || $0.hasPrefix("raw-dispatch ") }
    #expect(rows.count == 4, "\(lines)")
    for way in ["plain", "urgent-first", "urgent-kept"] { #expect(rows.contains { $0.contains(" \(way) ") }) }
    #expect(lines.contains { $0.hasPrefix("take: ") || $0.hasPrefix("nothing that was measured") })
    let csv = try #require(folder.read("a.csv"))
    #expect(csv.contains("load=shop;times=1;way=urgent-first") && csv.contains("urgent_late_p99_percent"))
    #expect(try #require(folder.read("a.env.json")).contains("shop.load"))
  }

  @Test func whatIsWrongIsSaidInOneLine() {
    expectComplaint(66, ["none.load: there is no such load file"], ["load", "\(folder.path)/none.load"])
    expectComplaint(65, ["line 1: there is no word 'speed'"], ["load", write("speed = 5")])
    expectComplaint(
      65, ["the requests take 500 % of", "no scheduler carries more than 95 %"],
      ["load", write("rate = 5000\nservice = fixed 1ms\ncpus = 1")])
    let idle = "rate = 1\nservice = fixed 1ms\n"
    expectComplaint(65, ["cpus is 1024, and this process may use"], ["load", write(idle + "cpus = 1024")])
    expectComplaint(64, ["there is no subject 'stealin'"], ["load", write(idle), "--backend", "stealin"])
    expectComplaint(64, ["--workers takes counts"], ["load", write(idle), "--workers", "0"])
    #expect(folder.contents == ["shop.load"])
  }
}
