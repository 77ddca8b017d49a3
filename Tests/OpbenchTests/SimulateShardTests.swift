import Glibc
import HarnessMeasuring
import HarnessResults
import LaboratorySupport
import TestSupport
import Testing

/// `simulate --shard` and the merge of its shards, as a user calls them.
@Suite(.ownThread) struct SimulateShardTests {
  let folder = TemporaryFolder()
  private static let plan = [
    "simulate", "--graph", "stencil_1d(width=8;steps=4),random(tasks=60;layers=4)", "--workers", "1,4,16", "--repeats",
    "2", "--backend", "stealing,threadpool(order=fifo)",
  ]

  private func shards(
    _ folder: TemporaryFolder, _ more: [String] = [], name: String = "shard", environment: [String: String] = [:]
  ) -> [String] {
    (1...3).map { number in
      let path = "\(folder.path)/\(name)-\(number)-of-3.csv"
      let outcome = ProcessRunner.run(
        BuiltOpbench.path, Self.plan + more + ["--shard", "\(number)/3", "--output", path], environment: environment,
        timeout: 120)
      #expect(outcome.ending == .exited(0), "\(outcome)")
      return path
    }
  }

  /// What a merge says on standard error, and its exit code.
  private func merge(_ arguments: [String]) -> ProcessOutcome {
    ProcessRunner.run("sh", ["-c", "\"$0\" merge \"$@\" 2>&1", BuiltOpbench.path] + arguments, timeout: 60)
  }

  @Test func mergedShardsAreTheRunWithoutShards() throws {
    let (paths, all) = (shards(folder), "\(folder.path)/all.csv")
    let whole = ProcessRunner.run(
      BuiltOpbench.path, Self.plan + ["--output", "\(folder.path)/whole.csv"], timeout: 120)
    #expect(whole.ending == .exited(0), "\(whole)")
    // The order on the command line does not matter.
    let outcome = merge([paths[2], paths[0], paths[1], "--output", all])
    #expect(outcome.ending == .exited(0), "\(outcome)")
    let rows = try #require(folder.read("all.csv"))
    #expect(rows == folder.read("whole.csv"))
    // Two graphs, three numbers of workers, two pools, two seeds: every shard has a third.
    #expect(parseCSV(rows).count == 25)
    for path in paths {
      #expect(parseCSV(folder.read(String(path.split(separator: "/").last!))!).count == 9)
    }
    let record = try #require(try RunRecord.read(path: "\(folder.path)/all.env.json"))
    #expect(record.outcome.rowCount == 24 && record.shard == nil && record.shards?.count == 3)
    #expect(record.simulation != nil && record.cells.count == 12 && record.effort.blocks == 2)
    #expect(merge(paths + ["--output", all]).ending == .exited(73) && folder.read("all.csv") == rows)
  }

  @Test func missingShardsAreNamedWithTheirCommand() throws {
    let (paths, all) = (shards(folder), "\(folder.path)/all.csv")
    let before = folder.read("shard-2-of-3.csv")
    for suffix in ["csv", "env.json"] { unlink("\(folder.path)/shard-2-of-3.\(suffix)") }
    let lacking = merge([paths[0], paths[2], "--output", all])
    #expect(lacking.ending == .exited(66) && lacking.lines.count == 2, "\(lacking.lines)")
    #expect(lacking.lines.last?.contains("8 of 24 runs are missing, of 1 shard") == true, "\(lacking.lines)")
    #expect(!folder.contents.contains("all.csv"))
    #expect(BuiltOpbench.run("merge", "--missing", paths[0], paths[2]).output == ["2"])
    let command = try #require(lacking.lines.first?.split(separator: "this runs it: ").last)
    #expect(ProcessRunner.run("sh", ["-c", String(command)], timeout: 120).ending == .exited(0), "\(command)")
    #expect(folder.read("shard-2-of-3.csv") == before)
    // A shard with rows of one pool alone is not whole, and runs again over what is there.
    let some = before!.split(separator: "\r\n").filter { !$0.contains(",threadpool") }
    _ = folder.write(some.map { $0 + "\r\n" }.joined(), to: "shard-2-of-3.csv")
    let json = try #require(folder.read("shard-2-of-3.env.json"))
    _ = folder.write(json.replacing("\"row_count\" : 8", with: "\"row_count\" : 4"), to: "shard-2-of-3.env.json")
    let part = merge(paths + ["--output", all])
    #expect(part.ending == .exited(66) && part.lines.first?.contains("4 of 8 runs missing") == true, "\(part.lines)")
    let again = try #require(part.lines.first?.split(separator: "this runs it: ").last)
    #expect(again.hasSuffix("--overwrite"), "\(again)")
    #expect(ProcessRunner.run("sh", ["-c", String(again)], timeout: 120).ending == .exited(0), "\(again)")
    #expect(folder.read("shard-2-of-3.csv") == before)
    #expect(merge(paths + ["--output", all]).ending == .exited(0))
  }

  @Test func whatDoesNotBelongTogetherIsRefused() throws {
    let (paths, all) = (shards(folder), "\(folder.path)/all.csv")
    func expectRefusal(_ part: String, _ files: [String], sourceLocation: SourceLocation = #_sourceLocation) {
      let outcome = merge(files + ["--output", all])
      #expect(
        outcome.ending == .exited(65) && outcome.lines.count == 1 && outcome.lines[0].contains(part),
        "\(outcome.lines)",
        sourceLocation: sourceLocation)
      #expect(!folder.contents.contains("all.csv") && !folder.contents.contains("all.env.json"))
    }
    func altered(_ number: Int, _ name: String, rows: String? = nil, from: String = "", to: String = "") -> String {
      let json = folder.read("shard-\(number)-of-3.env.json")!
      _ = folder.write(from.isEmpty ? json : json.split(separator: from).joined(separator: to), to: "\(name).env.json")
      return folder.write(rows ?? folder.read("shard-\(number)-of-3.csv")!, to: "\(name).csv")
    }
    expectRefusal("both have", paths + [altered(2, "twin")])
    let seeded = shards(folder, ["--seed", "7"], name: "seed")[1]
    expectRefusal("has seed 7, the other has 1", [paths[0], seeded, paths[2]])
    expectRefusal("another work of a task", [paths[0], shards(folder, ["--work", "20us"], name: "work")[1]])
    expectRefusal("another model", [paths[0], altered(2, "model", from: "\"ns\" : ", to: "\"ns\" : 1")])
    let revision = ["OPBENCH_REVISION": String(repeating: "0", count: 40)]
    expectRefusal("has commit 0000", [paths[0], shards(folder, name: "commit", environment: revision)[1]])
    let text = folder.read("shard-2-of-3.csv")!
    let lines = text.split(separator: "\r\n")
    expectRefusal(
      "cut off", [paths[0], altered(2, "short", rows: lines.dropLast().joined(separator: "\r\n") + "\r\n")])
    expectRefusal("cut off", [paths[0], altered(2, "torn", rows: String(text.dropLast(10)))])
    let measured = "\(folder.path)/measured.csv"
    let run = [
      "run", "--quick", "--benchmark", "overhead/local-add", "--backend", "raw-dispatch", "--blocks", "6", "--values",
      "1", "--shard", "2/3", "--output", measured,
    ]
    #expect(ProcessRunner.run(BuiltOpbench.path, run, timeout: 120).ending == .exited(0))
    expectRefusal("is of another plan", [paths[0], measured])
    expectRefusal("which is not in shard 2/3", [altered(2, "other", rows: folder.read("shard-1-of-3.csv")!)])
  }

  @Test func mistakesOnTheCommandLineAreOneLine() {
    for (part, more) in [
      ("the plan has 6 cells", ["--shard", "1/7"]), ("it takes K/N", ["--shard", "4/3"]),
      ("needs --output FILE.csv", ["--shard", "1/3"]),
    ] {
      let outcome = ProcessRunner.run(
        "sh", ["-c", "\"$0\" \"$@\" 2>&1", BuiltOpbench.path] + Self.plan + more, timeout: 60)
      #expect(outcome.ending == .exited(64) && outcome.lines.first?.contains(part) == true, "\(outcome)")
    }
  }
}
