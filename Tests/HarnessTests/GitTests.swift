import Glibc
import LaboratorySupport
import Testing

@testable import HarnessMeasuring

/// What is known of a checkout when git says so, says no, or says nothing.
struct GitTests {
  let folder = TemporaryFolder()

  private func git(_ script: String, seconds: Double = 20) -> Git {
    Git(folder.path, program: folder.writeProgram("#!/bin/sh\n\(script)\n", to: "git"), seconds: seconds)
  }

  private func make(_ script: String) {
    let outcome = ProcessRunner.run(
      "sh",
      [
        "-c",
        "unset $(git rev-parse --local-env-vars); cd '\(folder.path)' && set -e\n"
          + "commit() { git -c user.email=a@b -c user.name=n -c commit.gpgsign=false commit -q --allow-empty -m c; }\n"
          + script,
      ], timeout: 60)
    #expect(outcome.ending == .exited(0), "\(outcome)")
  }

  private func revision(_ git: Git? = nil) -> (found: Revision?, said: [String]) {
    var said: [String] = []
    return (Revision(of: folder.path, countsNewFiles: true, git: git) { said.append($0) }, said)
  }

  @Test func aCheckoutHasACommitAndChanges() throws {
    make("git init -q . && commit")
    let clean = revision()
    #expect(clean.found?.hasChanges == false && clean.found?.commit.count == 40 && clean.said.isEmpty)
    _ = folder.write("x", to: "new")
    #expect(revision().found?.hasChanges == true)
    #expect(Revision(of: folder.path, countsNewFiles: false)?.hasChanges == false)
  }

  @Test func nothingThereIsNoComplaint() throws {
    make("git init -q .")
    #expect(revision().found == nil && revision().said.isEmpty, "there is no commit yet")
    let none = git(
      "echo 'fatal: not a git repository (or any parent up to mount point /)' >&2; echo 'Stopping.' >&2; exit 128")
    #expect(revision(none).found == nil && revision(none).said.isEmpty)
    #expect(Revision(of: "\(folder.path)/gone", countsNewFiles: true) == nil)
  }

  @Test func noAnswerIsSaid() throws {
    make("git init -q . && commit")
    let foreign = git(
      "case \"$*\" in *local-env*) ;; *) printf 'fatal: detected dubious ownership\\n\\n\\tgit config safe.directory\\n' >&2; exit 128 ;; esac"
    )
    let (found, said) = revision(foreign)
    #expect(found == nil && said.count == 1)
    #expect(
      said.first?.contains("dubious ownership") == true && said.first?.contains("safe.directory") == true, "\(said)")
    let slow = revision(git("case \"$*\" in *local-env*) ;; *) exec sleep 60 ;; esac", seconds: 0.3))
    #expect(slow.found == nil && slow.said.first?.contains("did not finish in time") == true, "\(slow.said)")
    let absent = revision(Git(folder.path, program: "\(folder.path)/no-git"))
    #expect(absent.found == nil && absent.said.first?.contains("not found") == true, "\(absent.said)")
    // The commit is known, and whether there are changes is not: neither yes nor no.
    let half = revision(
      git("case \"$*\" in *status*) echo 'fatal: index file corrupt' >&2; exit 128 ;; *) exec git \"$@\" ;; esac"))
    #expect(half.found != nil && half.found?.hasChanges == nil)
    #expect(half.said.first?.contains("index file corrupt") == true, "\(half.said)")
  }

  /// In a hook of another repository. The variables are in the environment of a process of their own.
  @Test func theCallersVariablesDoNotReachGit() throws {
    make("git init -q . && commit")
    let asked = git("case \"$*\" in *local-env*) exec git \"$@\" ;; *) env | grep '^GIT_' ;; esac")
    setenv("GIT_PREFIX", "of-a-hook/", 1)
    defer { unsetenv("GIT_PREFIX") }
    guard case .yes(let lines) = asked.ask("anything") else {
      Issue.record("git did not answer")
      return
    }
    #expect(!lines.contains { $0.hasPrefix("GIT_PREFIX") }, "\(lines)")
  }
}
