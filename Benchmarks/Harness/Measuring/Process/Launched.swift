/// A measuring process from before its start to its outcome. Between two of its turns the process is stopped, so that
/// several can be measured side by side without running at the same time.
package struct Launched {
  /// Starts the process, or lets it go on, until it has ended or waits for its turn.
  /// - Returns: the outcome; nil when the process waits. It is not called again after the outcome.
  package let goOn: () -> ProcessOutcome?

  package init(goOn: @escaping () -> ProcessOutcome?) { self.goOn = goOn }

  /// Gives the process all turns one after another.
  package func toEnd() -> ProcessOutcome {
    while true { if let outcome = goOn() { return outcome } }
  }
}
