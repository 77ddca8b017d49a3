import Glibc
import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessResults

/// `run --shard`, `ablate --shard` and `merge` as a user calls them.
@Suite(.ownThread) struct ShardCommandTests {
  let folder = TemporaryFolder()
  static let run = [
    "run", "--quick", "--backend", "raw-dispatch", "--benchmark", "overhead/local-add", "--values", "1", "--blocks",
    "6",
  ]

  private func environment(_ node: String) -> [String: String] {
    BuiltOpbench.onQuietMachine.merging(["SLURMD_NODENAME": node]) { $1 }
  }

  private func node(_ name: String, _ arguments: [String]) -> ProcessOutcome {
    ProcessRunner.run(BuiltOpbench.path, arguments, environment: environment(name), timeout: 300)
  }

  private func shards(_ folder: TemporaryFolder) -> [String] {
    (1...3).map { number in
      let path = "\(folder.path)/shard-\(number)-of-3.csv"
      let outcome = node("n\(number)", Self.run + ["--shard", "\(number)/3", "--output", path])
      #expect(outcome.ending == .exited(0), "\(outcome)")
      return path
    }
  }

  @Test func shardsAreMergedAndCompared() throws {
    let paths = shards(folder)
    let all = "\(folder.path)/all.csv"
    // While one is missing: what it is, its command, and nothing is written.
    let lacking = ProcessRunner.run(
      "sh", ["-c", "\"$0\" \"$@\" 2>&1", BuiltOpbench.path, "merge", paths[0], paths[2], "--output", all], timeout: 60)
    #expect(lacking.ending == .exited(66) && lacking.lines.count == 2, "\(lacking.lines)")
    #expect(lacking.lines.first?.contains("shard 2/3 is missing") == true)
    let command = try #require(lacking.lines.first?.split(separator: "this runs it: ").last)
    #expect(command.hasSuffix("--shard 2/3 --output \(paths[1])"), "\(command)")
    #expect(lacking.lines.last?.contains("--partial") == true)
    #expect(!folder.contents.contains("all.csv") && !folder.contents.contains("all.csv.partial"))
    #expect(BuiltOpbench.run("merge", "--missing", paths[0], paths[2]).output == ["2"])
    // The command runs just that.
    let gone = folder.read("shard-2-of-3.csv")
    for suffix in ["csv", "env.json"] { unlink("\(folder.path)/shard-2-of-3.\(suffix)") }
    let again = ProcessRunner.run("sh", ["-c", String(command)], environment: environment("n2"), timeout: 300)
    #expect(again.ending == .exited(0), "\(again)")
    #expect(folder.read("shard-2-of-3.csv") != nil && folder.read("shard-2-of-3.csv") != gone)

    #expect(BuiltOpbench.run("merge", paths[0], paths[1], paths[2], "--output", all).code == 0)
    #expect(BuiltOpbench.run("merge", "--missing", paths[0], paths[1], paths[2]).output == [])
    let rows = parseCSV(try #require(folder.read("all.csv"))).dropFirst()
    #expect(
      Set(rows) == Set(paths.flatMap { parseCSV(folder.read(String($0.split(separator: "/").last!))!).dropFirst() }))
    #expect(Set(rows.map { $0[14] }) == ["n1", "n2", "n3"])
    #expect(Set(rows.map { $0[2] }) == ["0", "1", "2", "3", "4", "5", "6"])
    for format in ["table", "markdown"] {
      let text = BuiltOpbench.run("compare", all, "--format", format).output.joined(separator: " ")
      #expect(text.contains("on 3 machines of one kind") && text.contains("n1, n2, n3"), "\(text)")
    }
    let json = BuiltOpbench.run("compare", all, "--format", "json").output.joined()
    #expect(json.contains("\"machines\"") && json.contains("\"n3\""))
    // A finished result is replaced only when asked.
    let before = folder.read("all.csv")
    expectComplaint(73, ["all.csv", "--overwrite"], ["merge"] + paths + ["--output", all])
    expectComplaint(64, ["one of the shards"], ["merge"] + paths + ["--output", paths[0]])
    expectComplaint(64, ["twice"], ["merge", paths[0], paths[0], "--output", all])
    expectComplaint(64, ["--output"], ["merge"] + paths)
    expectComplaint(64, ["--missing"], ["merge"] + paths + ["--missing", "--output", all])
    expectComplaint(65, ["no shard"], ["merge", all, "--output", "\(folder.path)/more.csv"])
    expectComplaint(65, ["cannot be resumed", "merged"], Self.run + ["--output", all, "--resume"])
    #expect(folder.read("all.csv") == before)
    // A shard that was cut off spoils nothing.
    let text = try #require(folder.read("shard-3-of-3.csv"))
    _ = folder.write(String(text.dropLast(4)), to: "shard-3-of-3.csv")
    expectComplaint(65, ["shard-3-of-3.csv", "cut off"], ["merge"] + paths + ["--output", all, "--overwrite"])
    #expect(folder.read("all.csv") == before)
    // What is there is merged when the user asks for that, and says that it is not whole.
    let partial = "\(folder.path)/some.csv"
    #expect(BuiltOpbench.run("merge", paths[0], paths[1], "--output", partial, "--partial").code == 0)
    #expect(folder.read("some.env.json")?.contains("\"was_interrupted\" : true") == true)
  }

  /// A shard that comes back at another node: the block that was begun runs again there, all of it.
  @Test func aShardGoesOnAtAnotherNode() throws {
    let path = "\(folder.path)/a.csv"
    let arguments = Self.run + ["--shard", "1/2", "--output", path]
    // Killed at a stop point in the middle.
    let killed = ProcessRunner.run(
      BuiltOpbench.path, arguments, environment: ["SLURMD_NODENAME": "n1", FileCall.stopVariable: "42"], timeout: 300)
    #expect(killed.ending == .signalled(SIGKILL))
    let resumed = ProcessRunner.run(
      "sh", ["-c", "\"$0\" \"$@\" 2>&1", BuiltOpbench.path] + arguments + ["--resume"],
      environment: ["SLURMD_NODENAME": "n2"], timeout: 300)
    #expect(resumed.ending == .exited(0), "\(resumed)")
    #expect(resumed.lines.contains { $0.contains("going on at n2 with what n1 has begun") }, "\(resumed.lines)")
    let rows = parseCSV(try #require(folder.read("a.csv"))).dropFirst()
    #expect(Set(rows.map { $0[14] }) == ["n1", "n2"])
    for (block, own) in Dictionary(grouping: rows, by: { $0[2] }) where block != "0" {
      #expect(Set(own.map { $0[14] }).count == 1 && Set(own.map { $0[8] }).count == 2, "block \(block)")
    }
    let record = try #require(try RunRecord.read(path: "\(folder.path)/a.env.json"))
    #expect(record.machines.map(\.host) == ["n1", "n2"])
  }

  @Test func shardsOfAnAblation() throws {
    let ablate = [
      "ablate", "threadpool", "--decision", "order", "--benchmark", "overhead/local-add", "--values", "1", "--blocks",
      "6",
      "--no-pairs",
    ]
    let paths = (1...2).map { number in
      let path = "\(folder.path)/shard-\(number)-of-2.csv"
      let outcome = node("n\(number)", ablate + ["--shard", "\(number)/2", "--output", path])
      #expect(outcome.ending == .exited(0), "\(outcome)")
      return path
    }
    #expect(BuiltOpbench.run("merge", "--missing", paths[0]).output == ["2"])
    #expect(BuiltOpbench.run("merge", paths[0], paths[1], "--output", "\(folder.path)/all.csv").code == 0)
    expectComplaint(64, ["--no-pairs"], ablate.dropLast() + ["--shard", "1/2", "--output", paths[0]])
  }

  @Test func badInput() throws {
    let output = ["--output", "\(folder.path)/a.csv"]
    for shard in ["0/3", "4/3", "x", "3", "1/0", "-1/3"] {
      expectComplaint(64, ["'\(shard)'", "K/N", "3/20"], Self.run + output + ["--shard", shard])
    }
    expectComplaint(64, ["1/7", "6 blocks", "most shards"], Self.run + output + ["--shard", "1/7"])
    let open = Array(Self.run.dropLast(2)) + output + ["--shard", "1/3"]
    expectComplaint(64, ["1/3", "needs --blocks"], open)
    expectComplaint(64, ["--until", "other shards"], open + ["--until", "3%"])
    expectComplaint(64, ["--budget", "other shards"], open + ["--budget", "3m"])
    expectComplaint(64, ["--plan", "--shard"], Self.run + output + ["--plan", "\(folder.path)/p.json"])
    expectComplaint(
      64, ["--plan", "dry run"], Self.run + ["--shard", "1/3", "--dry-run", "--plan", "\(folder.path)/p.json"])
    expectComplaint(
      66, ["no.json"], ["merge", "--missing", "--plan", "\(folder.path)/no.json", "\(folder.path)/a.csv"])
    expectComplaint(64, ["--output"], Self.run + ["--shard", "1/3"])
    expectComplaint(64, ["--output"], Self.run + ["--shard", "1/3", "--output", "-"])
    expectComplaint(
      64, ["--trace"],
      ["run", "--backend", "stealing", "--blocks", "6", "--shard", "1/3", "--trace", "\(folder.path)/t.json"] + output)
    expectComplaint(66, ["no.csv"], ["merge", "\(folder.path)/no.csv"] + output)
    expectComplaint(64, ["shards"], ["merge"] + output)
    #expect(folder.contents.isEmpty)
    // Two commits.
    let paths = shards(folder)
    let environment = try #require(folder.read("shard-2-of-3.env.json"))
    let record = try #require(try RunRecord.read(path: "\(folder.path)/shard-2-of-3.env.json"))
    if let commit = record.commit {
      let other = String(repeating: "0", count: 40)
      _ = folder.write(environment.replacing(commit, with: other), to: "shard-2-of-3.env.json")
      expectComplaint(65, ["shard-2-of-3.csv", "commit", other], ["merge"] + paths + output)
    }
    _ = folder.write(environment.replacing("\"seed\" : 1", with: "\"seed\" : 2"), to: "shard-2-of-3.env.json")
    expectComplaint(65, ["shard-2-of-3.csv"], ["merge"] + paths + output)
    #expect(!folder.contents.contains("a.csv"))
  }
}
