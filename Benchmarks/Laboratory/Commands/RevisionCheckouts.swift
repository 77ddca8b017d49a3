import FoundationEssentials
import Glibc
import HarnessGate
import HarnessMeasuring
import HarnessWords

/// Checkouts of two revisions in a folder for temporary files. The user's own checkout is never touched.
///
/// The names of the folders are equally long: the place of a program decides how its memory lies, a little.
final class RevisionCheckouts {
  private let git = Git(".", seconds: 120)
  /// The checkout of the user, and the way from there to the folder of the command, such as `tools/` or nothing.
  private let top: String
  private let prefix: String
  private let folder: String
  private var made: [String] = []
  private let progress: Progress

  init(_ progress: Progress) throws {
    self.progress = progress
    switch git.ask("rev-parse", "--show-toplevel", "--show-prefix") {
    case .yes(let lines):
      (top, prefix) = (lines.first ?? ".", lines.count > 1 ? lines[1] : "")
    case .no:
      throw Complaint(.noInput, "--run takes --base and --head as revisions, and this folder is in no git repository")
    case .unknown(let words): throw Complaint(.unavailable, "git does not open this repository: \(words)")
    }
    var template = Array("\(FileManager.default.temporaryDirectory.path)/opbench-gate-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template) else {
      throw Complaint(.cannotCreate, "cannot make a folder for temporary files: \(String(cString: strerror(errno)))")
    }
    folder = String(cString: path)
  }

  /// Makes a checkout of a revision and builds it; gives the folder in which its command runs. `.` is the working tree
  /// as it is, which is built where it is.
  func make(_ name: String, _ revision: String, build: String?) throws -> String {
    var place = top
    if revision != "." {
      let commit = try self.commit(revision)
      place = "\(folder)/\(name)"
      made.append(place)
      if case .unknown(let words) = git.ask("worktree", "add", "--quiet", "--detach", "--force", place, commit) {
        throw Complaint(.cannotCreate, "cannot check '\(revision)' out: \(words)")
      }
      if FileManager.default.fileExists(atPath: "\(place)/.gitmodules") {
        let answer = Git(place, seconds: 600).ask("submodule", "--quiet", "update", "--init", "--recursive")
        if case .unknown(let words) = answer {
          throw Complaint(.unavailable, "the submodules of '\(revision)' cannot be had: \(words)")
        }
      }
    }
    let own = prefix.isEmpty ? place : "\(place)/\(prefix)"
    guard FileManager.default.fileExists(atPath: own) else {
      throw Complaint(.noInput, "'\(revision)' has no folder \(prefix)")
    }
    if let build { try self.build(CommandText(build), in: own, name, revision) }
    return own
  }

  private func commit(_ revision: String) throws -> String {
    switch git.ask("rev-parse", "--quiet", "--verify", "--end-of-options", "\(revision)^{commit}") {
    case .yes(let lines): return lines.first ?? revision
    case .no: throw Complaint(.noInput, "there is no revision '\(revision)' in this repository")
    case .unknown(let words): throw Complaint(.unavailable, "git does not say what revision '\(revision)' is: \(words)")
    }
  }

  /// The seconds that a build may take.
  private static let buildSeconds = 3_600.0

  private func build(_ command: CommandText, in place: String, _ name: String, _ revision: String) throws {
    progress.say("building '\(revision)'")
    let log = "\(folder)/\(name).log"
    // The whole output goes to a file, however long it is.
    var launch = CommandLaunch(["sh", "-c", "exec >\"$1\" 2>&1; eval \"$2\"", "sh", log, command.text])
    launch.folder = place
    let outcome = ProcessRunner.run(launch, timeout: Self.buildSeconds).outcome
    if outcome.ending == .interrupted { try GateInvocation.stopIfInterrupted() }
    guard outcome.ending != .exited(0) else { return }
    let lines = (FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? "")
      .split(whereSeparator: \.isNewline)
    let telling = lines.first { $0.contains("error") } ?? lines.last
    let words = telling.map { ": \(Printable.name($0.prefix(300)))" } ?? ""
    throw Complaint(.badInput, "'\(revision)' does not build: '\(command.text)' \(outcome.ending.description)\(words)")
  }

  func remove() {
    for place in made {
      _ = git.ask("worktree", "remove", "--force", "--force", place)
    }
    try? FileManager.default.removeItem(atPath: folder)
    if !made.isEmpty { _ = git.ask("worktree", "prune") }
  }
}
