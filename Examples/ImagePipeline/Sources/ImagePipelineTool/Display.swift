import ImagePipeline
import OperationComposition
import Pictures
import Synchronization

/// A bar on a terminal, and lines where the output goes into a file.
final class Display: Sendable {
  private struct State {
    var done = 0
    var failed = 0
    var shown = -1
  }

  private let total: Int
  private let isBar: Bool
  private let state = Mutex(State())

  init(total: Int, isVerbose: Bool) {
    self.total = total
    // Lines of a log would break the bar.
    isBar = FileHandles.errorIsTerminal && !isVerbose
  }

  /// One picture more is there, or could not be had.
  func picture(_ url: String, failure: (any Error)?) {
    // One thread at a time writes, so that lines stay whole.
    state.withLock { state in
      state.done += 1
      if let failure {
        state.failed += 1
        say((isBar ? "\r\u{1b}[K" : "") + "imagepipeline: \(line(url, failure))")
      }
      let tenth = state.done * 10 / total
      if isBar {
        try? FileHandles.standardError(bar(state))
      } else if tenth != state.shown {
        state.shown = tenth
        say("\(state.done) of \(total) pictures" + (state.failed > 0 ? ", \(state.failed) failed" : ""))
      }
    }
  }

  func end() { if isBar { try? FileHandles.standardError("\r\u{1b}[K") } }

  private func bar(_ state: State) -> String {
    let width = 40
    let filled = width * state.done / max(total, 1)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    return "\r[\(bar)] \(state.done)/\(total)" + (state.failed > 0 ? ", \(state.failed) failed" : "") + "\u{1b}[K"
  }

  private func line(_ url: String, _ error: any Error) -> String {
    let text =
      switch error {
      case is DeadlineExceeded: "no whole answer in time: --timeout sets the time"
      default: "\(error)"
      }
    return text.contains(url) || error is Failure ? text : "\(url): \(text)"
  }
}
