import Glibc
import LaboratorySupport
import TestSupport
import Testing

/// Both gate scripts where a repository, its owner and its tools are not as a script would like them.
@Suite(.ownThread) struct HostileGateTests {
  let repository: ScriptRepository

  init() throws { repository = try ScriptRepository() }

  /// Git sets these variables for a hook. A git that the gate starts would act on the repository that they name.
  @Test(arguments: ScriptRepository.scripts)
  func aHooksVariablesNameNoRepositoryOfTheGate(script: String) throws {
    let (repository, other) = (try ScriptRepository(), try ScriptRepository())
    repository.sh("echo mine >>version")
    let (own, others) = (repository.state, other.state)
    let outcome = repository.gate(
      script, "one", "two",
      environment: [
        "GIT_DIR": "\(other.path)/.git", "GIT_INDEX_FILE": "\(other.path)/.git/index", "GIT_WORK_TREE": other.path,
        "GIT_OBJECT_DIRECTORY": "\(other.path)/.git/objects", "GIT_PREFIX": "sub/",
      ])
    #expect(outcome.ending == .exited(0), "\(outcome.lines)")
    #expect(
      outcome.lines.contains {
        $0.hasPrefix("version two: gate") || $0.hasPrefix("version twomine: gate") || $0.hasPrefix("mine: gate")
      }, "\(outcome.lines)")
    #expect(repository.state == own && other.state == others)
  }

  /// As a user would have it: the gate before each commit. The commit has the user's change, and the branch is the
  /// user's.
  @Test(arguments: ScriptRepository.scripts)
  func aCommitWhoseHookIsTheGateHasItsChange(script: String) throws {
    repository.sh(
      """
      printf '#!/bin/sh\\nexec \(script) one two\\n' >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
      echo mine >>version
      git commit -qam mine
      test "$(git symbolic-ref HEAD)" = refs/heads/main
      test "$(git show HEAD:version)" = "two
      mine"
      test -z "$(git status --porcelain)" && test "$(git worktree list | wc -l)" = 1
      """)
  }

  @Test(arguments: ScriptRepository.scripts)
  func theUsersHooksAndSettingsAreNotTheGates(script: String) throws {
    repository.sh(
      """
      printf '#!/bin/sh\\ntouch ran\\necho hook\\nexit 1\\n' >hook && chmod +x hook
      for name in post-checkout post-index-change reference-transaction; do cp hook .git/hooks/$name; done
      git config log.showSignature true && git config core.fsmonitor "$PWD/hook" && git config core.abbrev 12
      git config color.ui always && git config status.showUntrackedFiles no
      """)
    let outcome = repository.gate(script, "one", "two")
    #expect(outcome.ending == .exited(0) && !outcome.lines.contains("hook"), "\(outcome.lines)")
    #expect(repository.run("test", ["-e", "ran"]).ending == .exited(1))
    if script == "scripts/gate" {
      #expect(outcome.lines.last?.contains("--base-name one (") == true, "\(outcome.lines)")
    }
  }

  @Test func aPackageInASubfolderIsFoundWhereItIs() throws {
    let outcome = repository.gate("sub/Benchmarks/gate", "one", "two", "--seed", "2")
    #expect(outcome.ending == .exited(0), "\(outcome.lines)")
    let base = "\(repository.path)/sub/Benchmarks/.build/gate/programs/base/wordbench"
    #expect(
      outcome.lines.last == "version two: gate --head-name two --base \(base) --base-name one --seed 2",
      "\(outcome.lines)")
    #expect(repository.run("sh", ["-c", base]).lines == ["version one: "])
    // The program that judges has its own name, with which its hints begin.
    let called = repository.gate(
      "sub/Benchmarks/gate", "one", "two", environment: ["GATE_DOES": "echo called ${0##*/}"])
    #expect(called.lines.last == "called wordbench", "\(called.lines)")
    let other = repository.gate("sub/Benchmarks/gate", "two", ".")
    #expect(other.lines.last?.hasPrefix("version two: gate --head-name . --base") == true, "\(other.lines)")
  }

  /// There is nothing to compare with, but the benchmarks that a change brings must still pass their own checks.
  @Test func theFirstBenchmarksAreChecked() throws {
    for code in ["0", "2"] {
      let outcome = repository.gate("sub/Benchmarks/gate", "none", "two", environment: ["GATE_CODE": code])
      #expect(outcome.ending == .exited(Int32(code)!), "\(outcome.lines)")
      #expect(outcome.lines.contains { $0.contains("'none' has no benchmarks yet") })
      #expect(outcome.lines.last == "version two: gate --head-name two --tiers 0", "\(outcome.lines)")
    }
    let none = repository.gate("sub/Benchmarks/gate", "one", "none")
    #expect(none.ending == .exited(66) && none.lines == ["gate: 'none' has no folder sub/Benchmarks"], "\(none.lines)")
  }

  @Test(arguments: ScriptRepository.scripts)
  func anotherWorktreeAndASubmodule(script: String) throws {
    repository.sh(
      """
      set -e
      git worktree add -q ../$(basename "$PWD")-tree two
      git init -q super && git -C super -c protocol.file.allow=always submodule --quiet add "$PWD" inner
      """)
    let tree = repository.path + "-tree"
    defer { _ = repository.run("rm", ["-rf", tree]) }
    for place in [tree, "\(repository.path)/super/inner"] {
      let before = repository.sh("git -C '\(place)' status --porcelain; git -C '\(place)' worktree list")
      let outcome = repository.gate("\(place)/\(script)", "one", "two")
      #expect(outcome.ending == .exited(0), "\(outcome.lines)")
      #expect(outcome.lines.last?.hasPrefix("version two: gate") == true, "\(outcome.lines)")
      #expect(repository.sh("git -C '\(place)' status --porcelain; git -C '\(place)' worktree list") == before)
    }
  }

  /// A worktree has no submodules by itself, and there may be no network.
  @Test(arguments: ScriptRepository.scripts)
  func submodulesAreThoseOfEachRevision(script: String) throws {
    repository.sh(
      """
      set -e
      git init -q tools/lib
      part() { echo $1 >tools/lib/part && git -C tools/lib add . && git -C tools/lib -c user.email=a@b -c user.name=n commit -qm $1; }
      part -first
      for place in . sub/Benchmarks; do
        git -c protocol.file.allow=always submodule --quiet add "$PWD/tools/lib" $place/lib
      done
      git commit -qm first && git tag first
      part -second
      for place in . sub/Benchmarks; do git -C $place/lib -c protocol.file.allow=always pull -q; done
      git commit -qam second && git tag second
      rm -rf tools/lib
      """)
    let before = repository.state
    let outcome = repository.gate(script, "first", "second")
    #expect(outcome.ending == .exited(0), "\(outcome.lines)")
    let programs = repository.sh(
      "find . -path '*.build/gate*' -path '*\(script == "scripts/gate" ? "/opbench" : "/programs/base/wordbench")' -exec {} \\; | sort -u"
    )
    #expect(programs.contains("version two-first: "), "\(programs)")
    let head = repository.sh(
      "find . -path '*.build/gate*' -path '*\(script == "scripts/gate" ? "/opbench" : "/programs/head/wordbench")' -exec {} \\; | sort -u"
    )
    #expect(head.contains("version two-second: "), "\(head)")
    #expect(repository.state == before)
  }

  @Test(arguments: ScriptRepository.scripts)
  func whatIsNotInACloneIsSaidWithTheWayToIt(script: String) throws {
    repository.sh(
      """
      set -e
      git clone -q --depth 1 "file://$PWD" tools/shallow
      git clone -q . tools/full && cd tools/full && git checkout -q -b mine && git branch -qD main
      """)
    for (place, base, words) in [
      ("shallow", "HEAD^1", "this clone is shallow"), ("full", "main", "there is origin/main"),
      ("full", "nowhere", "there is no revision 'nowhere' in this repository"),
    ] {
      let outcome = repository.gate("tools/\(place)/\(script)", base, "HEAD")
      #expect(outcome.ending == .exited(66) && outcome.lines.count == 1, "\(outcome.lines)")
      #expect(outcome.lines.first?.contains(words) == true, "\(outcome.lines)")
    }
  }

  /// Git that does not answer says neither yes nor no.
  @Test(arguments: ScriptRepository.scripts)
  func gitsOwnWordsAreShown(script: String) throws {
    let foreign = repository.gate(script, "one", "two", environment: ["GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"])
    #expect(foreign.ending == .exited(69) && foreign.lines.count == 1, "\(foreign.lines)")
    #expect(
      foreign.lines.first?.contains("dubious ownership") == true
        && foreign.lines.first?.contains("safe.directory") == true, "\(foreign.lines)")

    repository.sh("mv .git tools/git.away")
    let none = repository.gate(script, "one", "two", environment: ["GIT_CEILING_DIRECTORIES": "/"])
    #expect(none.ending == .exited(66) && none.lines.count == 1, "\(none.lines)")
    #expect(none.lines.first?.contains("is in no git repository") == true, "\(none.lines)")
    repository.sh("mv tools/git.away .git")

    for (asked, code) in [("--show-toplevel", Int32(69)), ("--verify", 69), ("ls-tree", 69)] {
      for (does, words) in [
        ("echo 'fatal: the disk is gone' >&2; exit 128", "fatal: the disk is gone"),
        ("sleep 30", "had not ended after 1 s"),
      ] {
        if asked == "ls-tree", script == "scripts/gate" { continue }
        repository.replace("git", "case \" $* \" in *' \(asked) '*) \(does) ;; *) exec \"$REAL\" \"$@\" ;; esac")
        let outcome = repository.gate(script, "one", "two", environment: ["ASK_SECONDS": "1"])
        #expect(outcome.ending == .exited(code), "\(asked): \(outcome)")
        #expect(outcome.lines.last?.contains(words) == true && outcome.lines.count == 1, "\(asked): \(outcome.lines)")
      }
    }
    #expect(repository.builds == 0)
    repository.replace("git", "exit 127")
    #expect(repository.gate(script, "one", "two").ending == .exited(69))
  }

  @Test(arguments: ScriptRepository.scripts)
  func whatIsNotCommittedIsNotLeftOutInSilence(script: String) throws {
    let words = "not committed, and so not measured"
    let quiet = repository.gate(script, "one", "two")
    #expect(quiet.ending == .exited(0) && !quiet.lines.contains { $0.contains(words) }, "\(quiet.lines)")
    repository.sh("echo mine >>version; echo new >sub/new")
    let changed = repository.gate(script, "one", "two")
    #expect(changed.lines.contains { $0.contains("changes in 2 files") && $0.contains(words) }, "\(changed.lines)")
    #expect(
      changed.lines.contains { $0.contains("\(script.split(separator: "/").suffix(2).joined(separator: "/")) one .") })
    #expect(!repository.gate(script, "one", ".").lines.contains { $0.contains(words) })
    // When git does not say, that is said, and the comparison goes on.
    repository.replace(
      "git", "case \" $* \" in *' status '*) echo 'fatal: no' >&2; exit 128 ;; *) exec \"$REAL\" \"$@\" ;; esac")
    let unknown = repository.gate(script, "one", "two")
    #expect(unknown.ending == .exited(0), "\(unknown.lines)")
    #expect(
      unknown.lines.contains { $0.contains("git does not say whether there are changes") && $0.contains("fatal: no") })
  }

  /// Two gates in one checkout would build into each other's folders, and disturb each other's times.
  @Test(arguments: ScriptRepository.scripts)
  func twoGatesInOneCheckoutRunAfterOneAnother(script: String) throws {
    let lines = repository.sh(
      """
      export GATE_DOES='case "$*" in gate*) echo begin >>counter.log; until [ -e go ]; do sleep 0.05; done; echo end >>counter.log ;; esac'
      \(script) one two >/dev/null 2>&1 & first=$!
      until [ -s counter.log ]; do sleep 0.05; done
      \(script) two one >/dev/null 2>second & second=$!
      until grep -q 'another gate is at work in this checkout' second; do sleep 0.05; done
      cat counter.log
      touch go
      wait $first && wait $second && cat counter.log
      """)
    #expect(lines == ["begin", "begin", "end", "begin", "end"], "\(lines)")
  }

  /// A change does not decide by how much it may be slower.
  @Test(arguments: ScriptRepository.scripts)
  func theThresholdsAreThoseOfTheBase(script: String) throws {
    let place = script == "scripts/gate" ? "results/gate" : "sub/Benchmarks"
    repository.sh(
      """
      set -e
      mkdir -p \(place)
      for name in strict lax; do
        echo $name >\(place)/thresholds.json && echo "$name record" >\(place)/allocations.json
        git add . && git commit -qm $name && git tag $name
      done
      echo own >\(place)/thresholds.json
      """)
    let show = [
      "GATE_DOES":
        "while [ $# -gt 0 ]; do case $1 in --*thresholds|--*allocations) echo \"$1 $(cat $2)\" ;; esac; shift; done"
    ]
    for head in ["lax", "."] {
      let outcome = repository.gate(script, "strict", head, environment: show)
      #expect(outcome.ending == .exited(0), "\(outcome.lines)")
      #expect(outcome.lines.contains("--thresholds strict"), "\(outcome.lines)")
      #expect(outcome.lines.contains("--base-allocations strict record"), "\(outcome.lines)")
      // The gate of opbench finds the record of the working tree by itself.
      if head == "lax" || script != "scripts/gate" {
        #expect(outcome.lines.contains("--allocations lax record"), "\(outcome.lines)")
      }
    }
    // Where the base has no thresholds, those of the change do not count.
    let first = repository.gate(script, "two", "strict", environment: show)
    #expect(
      first.ending == .exited(0) && !first.lines.contains { $0.hasPrefix("--thresholds strict") }, "\(first.lines)")
  }

  @Test(arguments: ScriptRepository.scripts)
  func aCloneWithCarriageReturnsStillStarts(script: String) throws {
    repository.sh("git clone -q -c core.autocrlf=true -c core.eol=crlf . tools/windows")
    let outcome = repository.gate("tools/windows/\(script)", "one", "two")
    #expect(outcome.ending == .exited(0), "\(outcome.lines)")
  }
}
