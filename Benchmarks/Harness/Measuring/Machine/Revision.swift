import Glibc

/// The revision of a checkout, as git says.
package struct Revision: Sendable {
  /// With this variable in the environment nobody asks git. It has the commit, and a plus sign behind it when the files
  /// differed from the commit's. `scripts/campaign` sets it: the checkout may change between the build and the last
  /// shard.
  package static let variable = "OPBENCH_REVISION"

  /// The revision that the environment tells; nil when it tells none.
  package static let told = getenv(variable).flatMap { Revision(told: String(cString: $0)) }

  /// The revision from which a program was built: what the environment tells, else what git says.
  /// - Parameter source: a file of the checkout from which the program was built.
  package static func ofBuild(source: String) -> Revision? {
    let folder = source.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    return told ?? Revision(of: folder, countsNewFiles: true)
  }

  init?(told text: String) {
    let commit = text.hasSuffix("+") ? text.dropLast() : text[...]
    guard commit.count == 40, commit.allSatisfy(\.isHexDigit) else { return nil }
    self.commit = String(commit)
    hasChanges = text.hasSuffix("+")
  }

  package let commit: String
  /// Whether the files differ from the commit's; nil when git did not answer.
  package let hasChanges: Bool?

  /// Nil outside of a checkout, and where git does not answer; the latter is said in one line.
  /// - Parameters:
  ///   - folder: in the checkout. A program that was carried elsewhere has left its folder behind.
  ///   - countsNewFiles: whether files that git does not know are changes.
  package init?(
    of folder: String, countsNewFiles: Bool, git: Git? = nil, say: (String) -> Void = { Progress().say($0) }
  ) {
    guard access(folder.isEmpty ? "/" : folder, F_OK) == 0 else { return nil }
    let git = git ?? Git(folder)
    switch git.ask("rev-parse", "--quiet", "--verify", "HEAD") {
    case .yes(let lines):
      guard let commit = lines.first else { return nil }
      self.commit = commit
    case .no: return nil
    case .unknown(let words):
      say("the commit of \(folder) is not known, and so not kept: \(words)")
      return nil
    }
    let files = countsNewFiles ? "normal" : "no"
    switch git.ask("status", "--porcelain", "--ignore-submodules=none", "--untracked-files=\(files)") {
    case .yes(let lines): hasChanges = !lines.allSatisfy(\.isEmpty)
    case .no: hasChanges = false
    case .unknown(let words):
      say("whether \(folder) has changes beside its commit is not known, and so not kept: \(words)")
      hasChanges = nil
    }
  }
}
