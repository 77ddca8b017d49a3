import Glibc

/// The revision of a checkout, as git says.
package struct Revision: Sendable {
  /// With this variable in the environment nobody asks git. It has the commit, and a plus sign behind it when the files
  /// differed from the commit's. `scripts/campaign` sets it: the checkout may change between the build and the last shard.
  package static let variable = "OPBENCH_REVISION"

  /// The revision that the environment tells; nil when it tells none.
  package static let told = getenv(variable).flatMap { Revision(told: String(cString: $0)) }

  init?(told text: String) {
    let commit = text.hasSuffix("+") ? text.dropLast() : text[...]
    guard commit.count == 40, commit.allSatisfy(\.isHexDigit) else { return nil }
    self.commit = String(commit)
    hasChanges = text.hasSuffix("+")
  }

  package let commit: String
  /// Whether the files differ from the commit's.
  package let hasChanges: Bool

  /// Nil outside of a checkout, and where there is no git.
  /// - Parameters:
  ///   - folder: in the checkout.
  ///   - countsNewFiles: whether files that git does not know are changes.
  package init?(of folder: String, countsNewFiles: Bool) {
    func git(_ arguments: String...) -> [String]? {
      let outcome = ProcessRunner.run("git", ["-C", folder] + arguments, timeout: 20)
      return outcome.ending == .exited(0) ? outcome.lines : nil
    }
    guard let commit = git("rev-parse", "--verify", "HEAD")?.first else { return nil }
    self.commit = commit
    hasChanges = git("status", "--porcelain", "--untracked-files=\(countsNewFiles ? "normal" : "no")")?.isEmpty == false
  }
}
