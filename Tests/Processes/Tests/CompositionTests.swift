import Testing

/// Misuse of the composition of operations ends the process with a message that says what was wrong.
@Suite("Composition", .ownThread)
struct CompositionTests {
  static let scenarios = [
    ("no-attempts", "retry needs 1 attempt or more, not 0"),
    ("budget-without-tokens", "maxTokens of a retry budget is 1 to 1000000, not 0"),
    ("budget-without-ratio", "tokenRatio of a retry budget is 0.001 to 1000000, not nan"),
    ("backoff-below-zero", "initial of a backoff is 0 or more, not -1.0 seconds"),
    ("backoff-that-shrinks", "the factor of an exponential backoff is 1 or more, not 0"),
    ("maximum-below-zero", "maximum of a backoff is 0 or more, not -3.0 seconds"),
    ("bucket-without-rate", "the rate of a token bucket is 1 or more, not 0"),
    ("bucket-without-burst", "the burst of a token bucket is 1 or more, not 0"),
    ("bucket-without-period", "the period of a token bucket is longer than 0, not 0.0 seconds"),
    ("more-than-the-burst", "a token bucket with a burst of 2 cannot give 3 tokens"),
  ]

  @Test("misuse traps with a message", arguments: scenarios)
  func traps(scenario: String, reason: String) throws {
    let run = try Scenario(scenario)
    #expect(run.trapped, "ended by signal \(run.signal ?? 0), exit code \(run.exitCode ?? 0)")
    #expect(run.output.contains("Operations: \(reason)"), "\(run.output)")
  }

  @Test("a member that waits for the outer queue of its group is told so, with the names")
  func circle() throws {
    let run = try Scenario("member-drains-the-outer-queue")
    #expect(run.trapped, "ended by signal \(run.signal ?? 0), exit code \(run.exitCode ?? 0)")
    for part in ["drained() would wait for itself", "\"member\"", "\"group\""] {
      #expect(run.output.contains(part), "\(run.output)")
    }
  }
}
