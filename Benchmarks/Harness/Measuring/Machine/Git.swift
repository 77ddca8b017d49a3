import Glibc

/// Asks git about a folder. Nothing else in the laboratory starts git.
package struct Git {
  /// An answer is yes, no, or none. A caller that takes none for no would call a changed checkout unchanged.
  package enum Answer: Hashable, Sendable {
    /// The lines that git printed.
    case yes([String])
    /// Git has looked: there is no such thing, or the folder is in no checkout.
    case no
    /// Git did not answer, in its own words.
    case unknown(String)
  }

  private let folder: String
  private let program: String
  private let seconds: Double

  /// - Parameters:
  ///   - program: a name that is looked up on the path, or a file.
  ///   - seconds: how long git may take to answer.
  package init(_ folder: String, program: String = "git", seconds: Double = 20) {
    (self.folder, self.program, self.seconds) = (folder, program, seconds)
  }

  /// Git sets variables for a hook that name its repository and its index. They would lead every git that this program
  /// starts to that repository. Git itself says which they are.
  private static let script = "unset $(\"$0\" rev-parse --local-env-vars 2>/dev/null); exec \"$0\" \"$@\""
  /// The words are those that this type knows, and nothing waits for a password or writes to the checkout.
  private static let environment = ["LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"]

  package func ask(_ arguments: String...) -> Answer {
    let outcome = run(Self.script, arguments)
    switch outcome.ending {
    case .exited(0): return .yes(outcome.lines)
    case .exited(1): return .no
    case .exited:
      // Git's last line alone may be advice.
      let words = run("{ \(Self.script); } 2>&1", arguments).lines.joined(separator: " ")
      if words.contains("not a git repository") { return .no }
      return .unknown(words.isEmpty ? "git \(outcome.ending.description)" : words)
    default: return .unknown("git \(outcome.ending.description)")
    }
  }

  private func run(_ script: String, _ arguments: [String]) -> ProcessOutcome {
    // A watcher of the user's repository must not run for a question.
    ProcessRunner.run(
      "sh", ["-c", script, program, "-C", folder, "-c", "core.fsmonitor=false"] + arguments,
      environment: Self.environment, timeout: seconds)
  }
}
