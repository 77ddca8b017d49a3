import LaboratorySupport
import Testing

@testable import HarnessMeasuring

/// `queueing` as a user meets it.
@Suite(.ownThread) struct QueueingCommandTests {
  private static let small = ["queueing", "--requests", "5000", "--repeats", "1"]

  @Test func whatQueueingAllowsIsATable() {
    let outcome = ProcessRunner.run(BuiltOpbench.path, Self.small + ["--servers", "1,2"], timeout: 120)
    let rows = outcome.lines.map { $0.split(separator: " ").map(String.init) }
    #expect(outcome.ending == .exited(0) && rows.count == 6 && rows[0] == ["service", "arrivals", "long", "1", "2"])
    #expect(rows.dropFirst().map { $0[2] } == ["same", "later", "limited", "divided", "forked"], "\(outcome)")
    // Less than five percent where nothing is done; with pieces that others may come between, most of two servers.
    #expect(rows[1].suffix(2) == ["-", "-"] && (Int(rows[4][4]) ?? 0) > 70, "\(outcome)")
    let other = ProcessRunner.run(
      BuiltOpbench.path, Self.small + ["--service", "fixed,exponential", "--long", "same", "--arrivals", "fixed"],
      timeout: 120)
    // Requests that come and take equally long never wait.
    #expect(other.lines.count == 3 && other.lines[1].hasSuffix("95  95  95  95  95"), "\(other)")
  }

  @Test func wrongNamesAndNumbersAreOneLine() {
    expectComplaint(64, ["--service takes fixed", "not 'slow'"], ["queueing", "--service", "slow"])
    expectComplaint(64, ["--long takes same", "not 'same,'"], ["queueing", "--long", "same,"])
    expectComplaint(64, ["--servers takes counts from 1 to 1024"], ["queueing", "--servers", "0"])
    expectComplaint(64, ["it takes a count from 1000"], ["queueing", "--requests", "10"])
    expectComplaint(64, ["leaves no room for 3 seeds"], ["queueing", "--seed", "18446744073709551615"])
  }
}
