import ArgumentParser
import FoundationEssentials
import Glibc
import HarnessGate
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// The options by which two commands are compared, the same in `duel` and `gate`.
package struct CommandOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What the numbers are: times (of the process), or what the commands print: \(formats).", valueName: "format"),
    completion: .list(NumberReader.allCases.map(\.rawValue)))
  var read: String?

  @Option(
    help: "The file, or for criterion the folder, that the commands leave their numbers in (default: standard output).",
    completion: .file())
  var readFrom: String?

  @Option(
    parsing: .unconditional, help: "Runs of each command before the first that counts (default: 1).",
    transform: OptionNumber.count(in: 0...1_000))
  var warmup: Int?

  @Option(help: "A command that runs before each run and is not timed, such as one that empties a cache.")
  var prepare: String?

  @Option(help: "The file that both get as standard input (default: an empty input).", completion: .file())
  var input: String?

  @Flag(help: "Fail when a command prints something else than the first one did.")
  var sameOutput = false

  @Flag(help: "Let commands end with any exit code (default: another code than 0 is a failure).")
  var ignoreExit = false

  @Option(
    parsing: .unconditional, help: "After how long a run counts as hung (default: 10m).",
    transform: OptionNumber.duration)
  var timeout: Double?

  @Option(
    parsing: .unconditional, help: "After how long no further block begins, such as 5m (default: 120s).",
    transform: OptionNumber.duration)
  var budget: Double?

  package init() {}

  static let formats = NumberReader.allCases.map(\.rawValue).joined(separator: ", ")

  /// The first of these options that the user gave; nil when there is none.
  package var given: String? {
    let options: [(String, Bool)] = [
      ("--read", read != nil), ("--read-from", readFrom != nil), ("--warmup", warmup != nil),
      ("--prepare", prepare != nil), ("--input", input != nil), ("--same-output", sameOutput),
      ("--ignore-exit", ignoreExit), ("--timeout", timeout != nil), ("--budget", budget != nil),
    ]
    return options.first(where: \.1)?.0
  }

  /// What the options say, checked before anything runs.
  func conditions(seed: UInt64) throws -> CommandConditions {
    var conditions = CommandConditions()
    if let read {
      guard let reader = NumberReader(rawValue: read) else {
        let names = NumberReader.allCases.map(\.rawValue)
        throw Complaint(
          .usage, "--read takes \(Self.formats); not '\(read)'\(Suggestion.words(for: read, among: names))")
      }
      conditions.reader = reader
    }
    if readFrom != nil, conditions.reader == .times {
      throw Complaint(.usage, "--read-from needs --read: the form of the numbers in the file")
    }
    if sameOutput, conditions.reader != .times, readFrom == nil {
      throw Complaint(.usage, "--same-output compares what --read reads the numbers from, which is never the same")
    }
    if let input {
      guard access(input, R_OK) == 0, !isFolder(input) else {
        throw Complaint(.noInput, "--input: cannot read \(input)")
      }
      conditions.input = input.hasPrefix("/") ? input : "\(FileManager.default.currentDirectoryPath)/\(input)"
    }
    conditions.numbersAt = readFrom
    conditions.warmUps = warmup ?? conditions.warmUps
    conditions.prepare = try prepare.map { text throws(Complaint) in try CommandText(text) }
    conditions.comparesOutput = sameOutput
    conditions.mayFail = ignoreExit
    conditions.timeout = timeout ?? conditions.timeout
    conditions.budget = budget ?? conditions.budget
    conditions.seed = seed
    return conditions
  }

}

extension CommandEffects {
  /// The processes and the clock of this machine.
  static func machine(_ progress: Progress) -> CommandEffects {
    CommandEffects(
      run: { ProcessRunner.run($0, timeout: $1, limit: $2) },
      read: { (place, reader) throws(NumberReader.Problem) in
        if isFolder(place) { return try reader.numbers(inFolder: place) }
        guard let bytes = FileManager.default.contents(atPath: place).map(Array.init) else {
          throw NumberReader.Problem(words: "left no file \(place)")
        }
        return try reader.numbers(in: bytes)
      },
      watch: {
        let start = SystemLoad.read()
        let own = ProcessUsage.own.cpuSeconds
        return { seconds in
          let end = SystemLoad.read()
          return end.stealShare(since: start) > SystemLoad.largestStolenShare
            || end.isCrowded(since: start, ours: seconds + ProcessUsage.own.cpuSeconds - own)
        }
      },
      showProgress: { done, total, what in
        progress.show(
          done: Int(done * 10), total: Int(total * 10), what: what, secondsLeft: max(0, total - done))
      }, isInterrupted: { Interrupt.isRequested }, say: progress.say)
  }
}

private func isFolder(_ path: String) -> Bool {
  var isFolder = false
  return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder
}

/// What a reader should know of two commands beside the numbers.
enum CommandNotes {
  /// Linux gives a program at least the peak of the process that it was copied from, which is this one.
  static func notes(_ blocks: [CommandRunner.Block], _ conditions: CommandConditions, throughShell: Bool) -> [String] {
    guard conditions.reader == .times, let first = blocks.first else { return [] }
    var notes: [String] = []
    if !first.arms[0].keys.contains(where: { $0.metric == NamedNumber.instructions }) {
      notes.append("instructions are not counted: \(PerfAvailability().hardware)")
    }
    let peaks = first.arms.prefix(2).flatMap { $0.filter { $0.key.metric == .peakRSS }.map(\.value) }
    let floor = ProcessRunner.peakFloor
    if let floor, let least = peaks.min(), least <= floor * 1.1 {
      notes.append(
        "peak_rss below \(NumberFormat("bytes", floor).text(floor)) cannot be seen: that much a process has before it becomes "
          + "its program")
    }
    if throughShell {
      notes.append("both commands were started by sh, whose time is in theirs: \(Self.shell)")
    }
    return notes
  }

  private static let shell = "a command without pipes, variables and patterns needs none"
}
