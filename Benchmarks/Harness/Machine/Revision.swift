/// The revision of a checkout, as git says.
package struct Revision: Sendable {
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
