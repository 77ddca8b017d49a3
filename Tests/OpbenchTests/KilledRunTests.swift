import Glibc
import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessWords

/// A run that is killed at any of its calls to the file system goes on with `--resume`, and nothing is lost.
@Suite(.ownThread) struct KilledRunTests {
  /// A program of benchmarks without Foundation's queue beside it: that one hangs once in some hundred runs, and a
  /// minute is lost.
  static let program = BuiltProgram.path("OddBenchmarks")
  static let run = ["run", "--quick", "--benchmark", "quiet/sum", "--values", "1", "--blocks", "2"]

  /// Runs; with a number, the run is killed at that stop point.
  private func run(
    _ arguments: [String], of command: [String] = [Self.program] + Self.run, stopAt: Int? = nil
  ) -> ProcessOutcome {
    // Where no swift is on the path, none is asked for its version: that takes as long as the rest of such a run.
    var environment = ["PATH": "/usr/bin:/bin"]
    environment[FileCall.stopVariable] = stopAt.map { "\($0)" }
    return ProcessRunner.run(
      command[0], Array(command.dropFirst()) + arguments, environment: environment, timeout: 300)
  }

  /// The cells, blocks and values of a whole run, each once.
  private func places(_ records: [[String]]) -> [String] {
    records.dropFirst().map { [$0[2], $0[4], $0[8], $0[10]].joined(separator: " ") }.sorted()
  }

  /// Where a run is killed: everywhere at night, and for a change at the first points, every third, and the last ones,
  /// where files take the place of others.
  private func stops(last: Int) -> [Int] {
    (1..<1_000).filter { runsLongTests || $0 <= 6 || $0.isMultiple(of: 3) || $0 >= last }
  }

  private func runIDs(_ records: [[String]]) -> Set<String> { Set(records.dropFirst().map { $0[1] }) }

  /// The records of `X.csv.partial`.
  private func kept(_ folder: TemporaryFolder) -> [[String]] {
    folder.read("a.csv.partial").map(parseUnfinishedCSV) ?? []
  }

  /// The result is whole, and its environment is its own. Gives its run.
  private func expectWhole(
    _ folder: TemporaryFolder, _ expected: [String], besides: [String] = [], _ comment: Comment
  ) throws -> String {
    #expect(folder.contents == (["a.csv", "a.env.json"] + besides).sorted(), comment)
    let records = parseCSV(try #require(folder.read("a.csv"), comment))
    #expect(places(records) == expected, comment)
    let set = try ResultSet.read(path: "\(folder.path)/a.csv")
    let runID = try #require(set.record?.runID, comment)
    #expect(runIDs(records) == [runID], comment)
    return runID
  }

  /// The kills of one run, one at each stop point, and what was found between kill and resumption.
  private func killEverywhere(
    _ expected: [String], begin: [String],
    prepare: (TemporaryFolder) throws -> Void = { _ in }, between: (TemporaryFolder, Int) throws -> Void = { _, _ in },
    resumed: (TemporaryFolder, ProcessOutcome, Int) throws -> Void
  ) throws {
    for stop in stops(last: 42) {
      let folder = TemporaryFolder()
      try prepare(folder)
      let output = ["--output", "\(folder.path)/a.csv"]
      let killed = run(begin + output, stopAt: stop)
      guard killed.ending == .signalled(SIGKILL) else {
        #expect(killed.ending == .exited(0), "stop point \(stop): \(killed)")
        _ = try expectWhole(folder, expected, "without a kill")
        // A run opens, writes, renames and syncs its files, and does so once for each process at least.
        #expect(stop > 20, "only \(stop - 1) stop points")
        return
      }
      let left = kept(folder)
      try between(folder, stop)
      try resumed(folder, run(output + ["--resume"]), stop)
      if let text = folder.read("a.csv"), left.count > 1, let run = left.last?[1], text.contains(run) {
        #expect(Set(left).isSubset(of: Set(parseCSV(text))), "stop point \(stop): a finished row was lost")
      }
    }
    Issue.record("no run came to its end")
  }

  private func whole() throws -> (TemporaryFolder, [String]) {
    let folder = TemporaryFolder()
    let outcome = run(["--output", "\(folder.path)/a.csv", "--seed", "2"])
    #expect(outcome.ending == .exited(0), "\(outcome)")
    return (folder, places(parseCSV(try #require(folder.read("a.csv")))))
  }

  @Test func aNewResult() throws {
    let (_, expected) = try whole()
    try killEverywhere(expected, begin: []) { folder, outcome, stop in
      if folder.contents.isEmpty {
        #expect(stop == 1 && outcome.ending == .exited(66) && outcome.lastWords?.contains("nothing to resume") == true)
      } else {
        #expect(outcome.ending == .exited(0), "stop point \(stop): \(outcome)")
        _ = try expectWhole(folder, expected, "stop point \(stop)")
      }
    }
  }

  /// The old result is whole until the new one is, and nobody takes the rows of the one with the environment of the
  /// other.
  @Test func aResultThatIsOverwritten() throws {
    let (old, expected) = try whole()
    let oldRun = try #require(try ResultSet.read(path: "\(old.path)/a.csv").record?.runID)
    var refusals = 0
    try killEverywhere(
      expected, begin: ["--overwrite"],
      prepare: { folder in
        for name in old.contents { _ = folder.write(try #require(old.read(name)), to: name) }
      },
      between: { folder, stop in
        let path = "\(folder.path)/a.csv"
        do {
          let set = try ResultSet.read(path: path)
          #expect(Set(set.rows.map(\.runID)) == [set.record?.runID], "stop point \(stop)")
        } catch let complaint as Complaint {
          #expect(complaint.code == .badInput && complaint.description.contains("do not belong together"))
          expectComplaint(65, ["a.csv", "a.env.json", "do not belong together", "--resume"], ["compare", path])
          refusals += 1
        }
      },
      resumed: { folder, outcome, stop in
        if stop <= 5 {
          // Before the header is written, nothing says that a run was to replace the result: the result is as it was.
          #expect(outcome.ending == .exited(65) && outcome.lastWords?.contains("seed 2") == true, "\(outcome)")
          #expect(folder.read("a.csv") == old.read("a.csv") && folder.read("a.env.json") == old.read("a.env.json"))
        } else {
          #expect(outcome.ending == .exited(0), "stop point \(stop): \(outcome)")
          let newRun = try expectWhole(folder, expected, "stop point \(stop)")
          #expect(newRun != oldRun, "stop point \(stop)")
        }
      })
    #expect(refusals == 1)
  }

  /// Each resumed run is killed too, one stop point later than the one before, until a run comes to its end.
  @Test func theResumedRunsAreKilledToo() throws {
    let (_, expected) = try whole()
    let folder = TemporaryFolder()
    let output = ["--output", "\(folder.path)/a.csv"]
    #expect(run(output, stopAt: 15).ending == .signalled(SIGKILL))
    var rows: Set<[String]> = []
    for stop in 1..<1_000 {
      let outcome = run(output + ["--resume"], stopAt: stop)
      let present = Set(kept(folder) + parseCSV(folder.read("a.csv") ?? ""))
      #expect(rows.isSubset(of: present), "stop point \(stop): a finished row was lost")
      rows.formUnion(kept(folder))
      guard outcome.ending == .signalled(SIGKILL) else {
        #expect(outcome.ending == .exited(0), "stop point \(stop): \(outcome)")
        _ = try expectWhole(folder, expected, "after \(stop) runs")
        return
      }
    }
    Issue.record("no run came to its end")
  }

  /// A shard publishes its finished blocks while it runs. Wherever it is killed, what is published is whole, and
  /// nothing of it is lost when the shard comes back.
  @Test func aShard() throws {
    let shard = { (folder: TemporaryFolder) in
      ["--shard", "1/1", "--output", "\(folder.path)/a.csv"]
    }
    let whole = TemporaryFolder()
    #expect(run(shard(whole)).ending == .exited(0))
    let expected = places(parseCSV(try #require(whole.read("a.csv"))))
    var sawOneBlock = false
    for stop in stops(last: 60) {
      let folder = TemporaryFolder()
      let killed = run(shard(folder), stopAt: stop)
      guard killed.ending == .signalled(SIGKILL) else {
        #expect(killed.ending == .exited(0), "stop point \(stop): \(killed)")
        #expect(sawOneBlock && stop > 40)
        return
      }
      var published: [[String]] = []
      if let text = folder.read("a.csv") {
        // Each publication is read as a result, and has whole blocks.
        let set = try ResultSet.read(path: "\(folder.path)/a.csv")
        #expect(set.record?.shard == Shard("1/1"), "stop point \(stop)")
        published = Array(parseCSV(text).dropFirst())
        let blocks = Set(published.map { $0[2] })
        sawOneBlock = sawOneBlock || blocks.subtracting(["0"]).count == 1
        for block in blocks where block != "0" {
          let own = Set(expected.filter { $0.hasPrefix("\(block) ") })
          #expect(Set(places([[]] + published)).isSuperset(of: own), "stop point \(stop): half a block is published")
        }
      }
      guard !folder.contents.isEmpty else { continue }
      let resumed = run(shard(folder) + ["--resume"])
      #expect(resumed.ending == .exited(0), "stop point \(stop): \(resumed)")
      _ = try expectWhole(folder, expected, "stop point \(stop)")
      let now = Set(parseCSV(try #require(folder.read("a.csv"))))
      #expect(Set(published).isSubset(of: now), "stop point \(stop): a published row was lost")
    }
    Issue.record("no run came to its end")
  }

  /// The trace is put together anew by each run, and what a killed run has left of it is gone.
  @Test func aTrace() throws {
    // Foundation's queue has no such loop, and so does not run here either.
    let command = [
      BuiltOpbench.path, "run", "--quick", "--benchmark", "forkjoin/perform .*work_ns=0", "--values", "1", "--blocks",
      "1",
    ]
    let trace = { (folder: TemporaryFolder) in
      ["--trace", "\(folder.path)/t.json", "--output", "\(folder.path)/a.csv"]
    }
    let whole = TemporaryFolder()
    #expect(run(trace(whole), of: command).ending == .exited(0))
    let expected = places(parseCSV(try #require(whole.read("a.csv"))))
    let folder = TemporaryFolder()
    for stop in 1..<1_000 {
      let outcome = run(trace(folder) + (stop > 12 ? ["--resume"] : []), of: command, stopAt: stop)
      guard outcome.ending == .signalled(SIGKILL) else {
        #expect(outcome.ending == .exited(0), "stop point \(stop): \(outcome)")
        _ = try expectWhole(folder, expected, besides: ["t.json"], "after \(stop) runs")
        #expect(folder.read("t.json")?.hasSuffix("}\n") == true)
        return
      }
    }
    Issue.record("no run came to its end")
  }
}
