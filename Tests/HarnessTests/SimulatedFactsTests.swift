import FoundationEssentials
import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessResults
@testable import HarnessWords

/// The facts of simulated rows, made by hand.
struct SimulatedFactsTests {
  /// A run with one seed: only what a test is about differs.
  static func line(
    _ backend: String, workers: Int, seed: Int = 1, work: Double = 10_000, graph: String = "fft", makespan: Double,
    utilisation: Double = 0.5, kind: String = "simulated"
  ) -> String {
    let numbers: [String: Double] = [
      "work_ns": work, "workers": Double(workers), "seed": Double(seed), "tasks": 100, "edges": 9,
      "makespan_ns": makespan, "efficiency": 100_000 / makespan, "utilisation": utilisation,
      "limit_work_ns": makespan / 2, "limit_critical_path_ns": makespan / 4, "limit_scheduler_ns": makespan / 4,
    ]
    let texts = ["kind": kind, "schema": "1", "graph": graph, "sizes": "a=1;b=2", "backend": backend, "model": "made"]
    return CSV.line(SimulationHeader.columns.map { texts[$0] ?? CSV.number(numbers[$0] ?? 0) })
  }

  static func file(_ lines: [String]) throws -> SimulatedFile {
    let folder = TemporaryFolder()
    return try SimulatedFile(
      path: folder.write(CSV.line(SimulationHeader.columns) + lines.joined(), to: "s.csv"))
  }

  static func tree(_ lines: [String]) throws -> JSONTree {
    try JSONTree(try FactsDocument([], simulated: [try file(lines)], reference: nil).json())
  }

  /// `more` is as fast with two workers and slower with 64; `less` is faster with both; `loud` differs between seeds.
  static let compared = [2, 64].flatMap { workers in
    (1...3).flatMap { seed -> [String] in
      let base = 200_000 / Double(workers)
      let factors = [
        ("pool", 1.0), ("pool(more=1)", workers == 2 ? 1.01 : 1.3), ("pool(less=1)", 0.8),
        ("pool(loud=1)", seed == 1 ? 0.9 : 1.1),
      ]
      return factors.map { line($0, workers: workers, seed: seed, makespan: base * $1 * (1 + 0.001 * Double(seed))) }
    }
  }

  @Test func strategiesThatChangePlaces() throws {
    let facts = try Self.tree(Self.compared)
    #expect(facts["measured"] == .null && facts["sources"][0]["kind"].text == "simulated")
    #expect(facts["sources"][0]["rows"].number == 24)
    let simulated = facts["simulated"]
    #expect(simulated["base"].text == "pool" && simulated["has_default"].bool == true)
    #expect(simulated["few"].number == 2 && simulated["many"].number == 64 && simulated["margin_text"].text == "2 %")
    #expect(simulated["models"].texts == ["made"] && simulated["shown"].text == "compared")
    let moves = simulated["moves"]
    #expect(moves.list.map { $0["few"]["verdict"].text } == ["same", "better", "open"])
    #expect(moves.list.map { $0["many"]["verdict"].text } == ["worse", "better", "open"])
    #expect(moves[0]["many"]["text"].text == "x1.30 [1.30, 1.30]" && moves[0]["many"]["n"].number == 3)
    #expect(simulated["changed"].list.map { $0["backend"].text } == ["pool(more=1)"])
    // The farthest from the base first.
    #expect(simulated["order"].texts == ["pool", "pool(more=1)", "pool(less=1)", "pool(loud=1)"])
    let graph = simulated["graphs"][0]
    #expect(graph["title"].text == "fft (a=1, b=2)" && graph["works"][0]["work_text"].text == "10 µs")
    let mark = graph["works"][0]["runs"][0]["marks"][1]
    #expect(mark["workers"].number == 64 && mark["n"].number == 3 && mark["work"].number == 0.5)
    #expect(mark["critical_path"].number == 0.25 && mark["scheduler"].number == 0.25)
    let text = try SimulatedText([try Self.file(Self.compared)]).text(width: 120)
    #expect(
      text.hasPrefix("simulated: no CPU ran these tasks. The costs are those of: made\n\nmakespan over that of pool"))
    #expect(
      text.contains("pool(more=1)                x1.01 [1.01, 1.01] same       x1.30 [1.30, 1.30] worse"), "\(text)")
  }

  /// Five granularities or more are a sweep: `cheap` never loses the level, `dear` never reaches it, and one crosses
  /// it.
  @Test func granularitiesOfSweeps() throws {
    let rows = [1_000.0, 2_000, 4_000, 8_000, 16_000].flatMap { work in
      [("cheap", 0.9), ("dear", 0.3), ("between", work / 16_000)].map { name, utilisation in
        Self.line("pool(\(name)=1)", workers: 64, work: work, makespan: work * 100, utilisation: utilisation)
      }
    }
    let simulated = try Self.tree(rows)["simulated"]
    #expect(
      simulated["shown"].text == "sweeps" && simulated["moves"] == .null && simulated["has_default"].bool == false)
    let cells = simulated["sweeps"][0]["rows"].list.map { $0["cells"][0] }
    #expect(cells.map { $0["outcome"].text } == ["never lost", "never reached", "crosses"])
    #expect(cells.map { $0["text"].text } == ["below 64.0 µs", "never: 30.0 % at best", "512 µs"])
    #expect(cells.map { $0["at"].number?.rounded() } == [nil, nil, 512_000])
    // Beside what is compared, a sweep has a table of its own.
    let both = try Self.tree(Self.compared + rows.map { $0.replacing(",fft,", with: ",tree,") })["simulated"]
    #expect(
      both["shown"].text == "compared" && both["sweeps"][0]["graph"].text == "tree" && both["graphs"].list.count == 1)
    #expect(try SimulatedText([try Self.file(rows)]).text(width: 120).contains("never: 30.0 % at best"))
    // The strategies have the order of the rows that are compared, whichever file comes first.
    let files = [try Self.file(rows.map { $0.replacing(",fft,", with: ",tree,") }), try Self.file(Self.compared)]
    let other = try JSONTree(try FactsDocument([], simulated: files, reference: nil).json())["simulated"]
    #expect(other["backends"].texts == ["pool", "pool(more=1)", "pool(less=1)", "pool(loud=1)"])
  }

  @Test func rowsAreReadStrictly() throws {
    func complaint(_ lines: [String], header: String = CSV.line(SimulationHeader.columns)) throws -> String? {
      let folder = TemporaryFolder()
      let path = folder.write(header + lines.joined(), to: "s.csv")
      do {
        _ = try FactsDocument([], simulated: [try SimulatedFile(path: path)], reference: nil)
        return nil
      } catch { return "\(error)" }
    }
    let line = Self.line("pool", workers: 2, makespan: 100)
    #expect(try complaint([line]) == nil)
    #expect(try complaint([])?.contains("has a header and no simulated rows") == true)
    #expect(try complaint([line, line])?.contains("a second row for pool with seed 1") == true)
    #expect(try complaint([String(line.dropLast())])?.contains("cut off") == true)
    for other in ["measured,1,", "simulated,2,"] {
      let row = line.replacing("simulated,1,", with: other)
      #expect(try complaint([row])?.contains("line 2: this is no simulated row of schema 1") == true)
    }
    for workers in ["0", "2.5"] {
      let row = line.replacing(",pool,2,", with: ",pool,\(workers),")
      #expect(try complaint([row])?.contains("line 2: workers is \(workers), which no simulation gives") == true)
    }
    let none = try complaint([line.replacing(",100,", with: ",many,")])
    #expect(none?.contains("line 2: a number is none") == true)
    for (number, words) in [
      ("0", "makespan_ns is 0,"), ("1e40", "makespan_ns is 1e40,"), ("nan", "makespan_ns is nan,"),
    ] {
      let wrong = Self.line("pool", workers: 2, makespan: 77).replacing(",77,", with: ",\(number),")
      #expect(try complaint([wrong])?.contains(words) == true, "\(wrong)")
    }
    let lacking = CSV.line(SimulationHeader.columns.filter { $0 != "seed" })
    #expect(try complaint([line], header: lacking)?.contains("of schema 1: there is no column seed") == true)
    #expect(
      try complaint([line], header: "a,b\r\n")?.hasSuffix("these are no rows of opbench simulate of schema 1") == true)
    let folder = TemporaryFolder()
    #expect(try SimulatedFile.isSimulated(folder.write("kind,schema\r\n", to: "a")))
    #expect(try SimulatedFile.isSimulated(folder.write(line, to: "b")))
    #expect(try !SimulatedFile.isSimulated(folder.write(Sample.csv, to: "c")))
  }
}
