import HarnessMeasuring
import HarnessWords

/// How two commands are compared: the same for both.
package struct CommandConditions: Sendable {
  /// Runs of each command that do not count, before the first that does.
  package var warmUps = 1
  /// Runs before each run and is not timed.
  package var prepare: CommandText?
  /// The file that is the standard input of both; nil: an empty input.
  package var input: String?
  package var reader = NumberReader.times
  /// The file or folder that a command leaves its numbers in; nil: its standard output. It is one of the folder in
  /// which the command runs.
  package var numbersAt: String?
  /// Whether both must print the same, every time.
  package var comparesOutput = false
  /// Whether a run may end with another exit code than 0.
  package var mayFail = false
  /// The seconds after which a run counts as hung.
  package var timeout = 600.0
  /// The seconds after which no further block begins.
  package var budget = 120.0
  package var seed: UInt64 = 1

  package init() {}

  /// Whether the output of a command is looked at.
  var keepsOutput: Bool { comparesOutput || reader != .times && numbersAt == nil }
}

/// One of two commands.
package struct CommandSide: Sendable {
  /// Its name in messages.
  package let name: String
  package let command: CommandText
  /// Where it runs; nil: where this process runs.
  package let folder: String?

  package init(_ name: String, _ command: CommandText, folder: String? = nil) {
    (self.name, self.command, self.folder) = (name, command, folder)
  }
}

/// What `CommandRunner` asks of the machine. Tests put something else here.
package struct CommandEffects {
  package var run: (CommandLaunch, _ timeout: Double, _ limit: Int) -> (outcome: ProcessOutcome, output: [UInt8])
  /// Reads the numbers of a file or folder.
  package var read: (String, NumberReader) throws(NumberReader.Problem) -> [NamedNumber: Double]
  /// Begins to watch the machine. The returned function says whether others had the CPUs since then, when the commands
  /// took that number of seconds of CPU time.
  package var watch: () -> (_ ours: Double) -> Bool
  package var showProgress: (_ done: Double, _ total: Double, _ what: String) -> Void
  package var isInterrupted: () -> Bool
  /// The time, in nanoseconds.
  package var now: () -> UInt64
  package var say: (String) -> Void

  package init(
    run: @escaping (CommandLaunch, Double, Int) -> (outcome: ProcessOutcome, output: [UInt8]),
    read: @escaping (String, NumberReader) throws(NumberReader.Problem) -> [NamedNumber: Double] = { _, _ in [:] },
    watch: @escaping () -> (Double) -> Bool, showProgress: @escaping (Double, Double, String) -> Void,
    isInterrupted: @escaping () -> Bool, now: @escaping () -> UInt64 = Clock.now, say: @escaping (String) -> Void
  ) {
    (self.run, self.read, self.watch, self.showProgress) = (run, read, watch, showProgress)
    (self.isInterrupted, self.now, self.say) = (isInterrupted, now, say)
  }
}
