import FoundationEssentials
import Glibc
import LaboratorySupport
import Testing

@testable import Harness

/// `scripts/gate` in a small repository, with a compiler that copies a program instead of building one.
struct GateScriptTests {
  /// What stands for `swift build`: its program is a script that says which sources it was built from.
  static let compiler = """
    #!/bin/sh
    package=. scratch=.build show=
    while [ $# -gt 0 ]; do
      case "$1" in
        --package-path) package=$2; shift ;;
        --scratch-path) scratch=$2; shift ;;
        --show-bin-path) show=1 ;;
        --version) echo "compiler ${COMPILER:-1}"; exit ;;
      esac
      shift
    done
    [ -z "$show" ] || { echo "$scratch/bin"; exit "${SHOW_CODE:-0}"; }
    echo built >>"$COUNTER"
    [ ! -f "$package/broken" ] || { echo "a.swift:1:1: error: it is broken"; exit 1; }
    mkdir -p "$scratch/bin"
    printf '#!/bin/sh\\necho "version %s: $*"; exit "${GATE_CODE:-0}"\\n' "$(cat "$package/version")" >"$scratch/bin/opbench"
    chmod +x "$scratch/bin/opbench"
    """

  final class Repository {
    let folder: TemporaryFolder
    var path: String { folder.path }

    init() throws {
      folder = try TemporaryFolder()
      _ = folder.write(GateScriptTests.compiler, to: "swift")
      chmod("\(folder.path)/swift", 0o755)
      let script = """
        set -e
        mkdir scripts tools && mv swift tools/ && cp '\(Checkout.path("scripts/gate"))' scripts/gate
        printf '.build/\\ntools/\\ncounter\\n' >.gitignore
        git init -q . && git config user.email a@b && git config user.name n && git config commit.gpgsign false
        echo one >version && git add . && git commit -qm one && git tag one
        echo two >version && git add . && git commit -qm two && git tag two
        touch broken && git add . && git commit -qm broken && git tag broken
        git checkout -q two && echo mine >>version
        """
      let outcome = run("sh", ["-c", script])
      #expect(outcome.ending == .exited(0), "\(outcome.lastWords ?? "")")
    }

    func run(_ program: String, _ arguments: [String], _ environment: [String: String] = [:]) -> ProcessOutcome {
      let inside = ["-c", "cd '\(path)' && exec \"$0\" \"$@\"", program]
      return ProcessRunner.run("sh", inside + arguments, environment: environment, timeout: 60)
    }

    func gate(_ arguments: String..., environment: [String: String] = [:]) -> ProcessOutcome {
      run("scripts/gate", arguments, own.merging(environment) { $1 })
    }

    /// Where the compiler is found, and counts.
    var own: [String: String] {
      let path = getenv("PATH").map { String(cString: $0) } ?? ""
      return ["PATH": "\(self.path)/tools:\(path)", "COUNTER": "\(self.path)/counter"]
    }

    /// How often something was built, or tried to be.
    var builds: Int { folder.read("counter")?.split(separator: "\n").count ?? 0 }
  }

  @Test func bothRevisionsAreBuiltOnceAndTheCheckoutIsLeftAlone() throws {
    let repository = try Repository()
    let before = repository.run("git", ["status", "--porcelain"]).lines
    let first = repository.gate("one", "two", "--tiers", "2")
    #expect(first.ending == .exited(0), "\(first.lastWords ?? "")")
    // The program of the checkout, as it lies there, is started with those of the two commits.
    let line = try #require(first.lines.last)
    #expect(line.hasPrefix("mine: gate --base ") && first.lines.dropLast().last == "version two")
    #expect(line.contains("--base-name one (") && line.contains("--head-name two (") && line.hasSuffix("--tiers 2"))
    #expect(repository.builds == 3)
    // Nothing is left but the programs and the logs.
    #expect(repository.run("git", ["worktree", "list"]).lines.count == 1)
    #expect(repository.run("git", ["status", "--porcelain"]).lines == before)
    let left = repository.run("sh", ["-c", "ls .build/gate/*"]).lines.filter { !$0.isEmpty && !$0.hasPrefix(".build") }
    #expect(Set(left) == ["build.log", "opbench"], "\(left)")

    let second = repository.gate("one", "two")
    #expect(second.ending == .exited(0) && repository.builds == 4, "only the gate's own program is built again")
    let third = repository.gate("one", "two", environment: ["COMPILER": "2"])
    #expect(third.ending == .exited(0) && repository.builds == 7, "another compiler makes other programs")
  }

  @Test func aProgramThatCannotBeKeptIsNotTakenForOne() throws {
    let repository = try Repository()
    let silent = repository.gate("one", "two", environment: ["SHOW_CODE": "1"])
    #expect(silent.ending == .exited(70), "\(silent.lines)")
    #expect(silent.lastWords?.contains("'one' does not say where its program is") == true)
    // A copy that fails half way, as on a full disk.
    let folder = "\(repository.path)/tools"
    let copy = """
      #!/bin/sh
      for last; do :; done
      case $last in *opbench.new) echo half >"$last"; chmod +x "$last"; exit 1 ;; esac
      exec /bin/cp "$@"
      """
    _ = repository.folder.write(copy, to: "tools/cp")
    chmod("\(folder)/cp", 0o755)
    for _ in 1...2 {
      let half = repository.gate("one", "two")
      #expect(half.ending == .exited(73), "\(half.lines)")
      #expect(half.lastWords?.contains("cannot keep the program of 'one'") == true)
    }
    unlink("\(folder)/cp")
    #expect(repository.gate("one", "two").ending == .exited(0))
  }

  @Test(arguments: ["2", "3", "4"])
  func theVerdictIsTheExitCode(code: String) throws {
    let repository = try Repository()
    #expect(repository.gate("one", ".", environment: ["GATE_CODE": code]).ending == .exited(Int32(code)!))
  }

  @Test func whatCannotBeBuiltCostsALine() throws {
    let repository = try Repository()
    for (arguments, code, words) in [
      (["nowhere", "two"], Int32(66), "no revision 'nowhere'"), (["one", "nowhere"], 66, "no revision 'nowhere'"),
      (["one"], 64, "usage"), ([], 64, "usage"), (["--tiers", "0"], 64, "usage"),
    ] {
      let outcome = repository.run(
        "sh", ["-c", "scripts/gate \"$@\" 2>&1", "sh"] + arguments, repository.own)
      #expect(outcome.ending == .exited(code) && outcome.lines.count == 1, "\(outcome.lines)")
      #expect(outcome.lines.first?.contains(words) == true, "\(outcome.lines)")
    }
    #expect(repository.builds == 0)

    let broken = repository.gate("one", "broken")
    #expect(broken.ending == .exited(65))
    #expect(broken.lastWords?.contains("'broken' does not build: a.swift:1:1: error: it is broken") == true)
    #expect(repository.run("git", ["worktree", "list"]).lines.count == 1)
  }
}
