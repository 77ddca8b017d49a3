import ArgumentParser
import FoundationEssentials
import Glibc
import HarnessComparing
import HarnessGate
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// The command `gate` from its options to its exit code: judges, calibrates or records. `ReportedGate` judges.
package struct GateInvocation {
  private let options: GateOptions
  /// The folder of the thresholds and the record when no option names them.
  private let folder: String?
  /// The subject to measure instead of the subject that the suite names.
  private let subject: String?
  private let progress = Progress()

  package init(_ options: GateOptions, folder: String? = nil, subject: String? = nil) throws {
    try options.check()
    (self.options, self.folder, self.subject) = (options, folder, subject)
    FileCall.ignoreSignals()
  }

  /// Throws the exit code of the verdict unless it is a pass.
  package func run() throws {
    Interrupt.install()
    let head = try GateProgram(options.head ?? GateProgram.own, option: "--head")
    let base = try options.base.map { try GateProgram($0, option: "--base") }
    if let base, base.build != head.build {
      throw Complaint(
        .badInput, "the base is a \(base.build) build and the head a \(head.build) build: build both the same way")
    }
    let offered = subject.map { subject in head.suite.cells.map { $0.on(subject: subject) } } ?? head.suite.cells
    let cells = try options.chosen(offered)
    try options.checkReports()
    for place in [options.output, options.record] {
      if let place { try ResultFiles.checkWritable(place, isRead: true) }
    }
    var resources = try Self.resources(options, folder: folder)
    resources.build = head.build
    if let count = options.calibrate, let output = options.output {
      return try calibrate(head, cells, medians: count, output: output)
    }
    if let record = options.record { return try self.record(head, cells, to: record) }
    warn(head)
    var task = ReportedGate(cells, head: head.arm("head"), resources, seed: options.seed)
    task.base = base?.arm("base")
    task.failsOnMissing = options.allOfBase
    if let base {
      task.missing = head.suite.missing(
        options.matching(base.suite.cells), tiers: resources.tiers)
    }
    task.names = ReportedGate.Names(
      base: options.baseName ?? options.base, head: options.headName ?? options.head ?? "this program")
    let report = try task.report(progress)
    try options.publish(report)
    if report.verdict != .pass { throw ExitCode(report.verdict.exitCode) }
  }

  private func warn(_ head: GateProgram) {
    for warning in MachineWarnings.before(isOptimised: head.build != "debug") { progress.say(warning) }
  }

  /// The contents of the gate's files: the files that options name, or else the files in the folder, if they exist.
  package static func resources(_ options: GateOptions, folder: String?) throws -> GateTiers.Resources {
    func present(_ name: String) -> String? {
      folder.map { "\($0)/\(name)" }.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
    }
    var resources = GateTiers.Resources()
    resources.tiers = try options.chosenTiers()
    if let path = options.thresholds ?? present("thresholds.json") {
      resources.thresholds = try GateThresholds.read(path)
    }
    if let path = options.allocations ?? present("allocations.json") {
      resources.record = try AllocationRecord.read(path)
    }
    resources.baseRecord = try options.baseAllocations.map(AllocationRecord.read)
    resources.countingEnvironment = Jemalloc.library().map(Jemalloc.environment)
    return resources
  }

  private func calibrate(_ head: GateProgram, _ cells: [GatedCell], medians: Int, output: String) throws {
    var file =
      FileManager.default.fileExists(atPath: output) ? try GateThresholds.read(output) : GateThresholds()
    warn(head)
    let timed = cells.count { $0.only([.steady, .wallClock]) != nil }
    progress.say(
      "calibrating takes \(GateCalibration.processes(medians: medians)) processes for each of \(Count.of(timed, "benchmark")); "
        + "Ctrl-C ends it, and \(output) stays as it is")
    var runner = ReportedGate.runner(base: head.arm("base"), head: head.arm("head"), seed: options.seed, progress)
    let outcome = Result { try GateCalibration.entries(cells, medians: medians, runner: &runner) }
    progress.clear()
    try Self.stopIfInterrupted("\(output) is as it was")
    let entries = try outcome.get()
    file.add(entries, from: .here(commit: Self.commit(), command: CommandLine.arguments))
    try ResultFiles.replace(output, with: try file.text())
    let rows = entries.map { entry in
      ["\(entry.benchmark)@\(entry.workers)", entry.metric, "\(entry.spread)", "\(entry.threshold)"]
    }
    let table = Table.aligned([["benchmark", "metric", "spread", "threshold"]] + rows)
    try DescriptorOutput.write(table.joined(separator: "\n") + "\n", to: STDOUT_FILENO, name: "standard output")
    progress.say("wrote \(output)")
  }

  private func record(_ head: GateProgram, _ cells: [GatedCell], to output: String) throws {
    let library = Jemalloc.library()
    try Self.stopIfInterrupted()
    guard let library else { throw Complaint(.unavailable, Jemalloc.advice) }
    var file =
      FileManager.default.fileExists(atPath: output) ? try AllocationRecord.read(output) : AllocationRecord()
    warn(head)
    var runner = ReportedGate.runner(base: head.arm("base"), head: head.arm("head"), seed: options.seed, progress)
    let outcome = Result {
      try Self.counted(head.arm("head"), cells, Jemalloc.environment(library: library), &runner)
    }
    try Self.stopIfInterrupted("\(output) is as it was")
    let entries = try outcome.get()
    file.add(entries, build: head.build, from: .here(commit: Self.commit(), command: CommandLine.arguments))
    try ResultFiles.replace(output, with: try file.text())
    func shown(_ range: [Double]?) -> String {
      let ends = (range ?? []).map(NumberFormat.significant)
      return Set(ends).count == 1 ? ends[0] : ends.joined(separator: " - ")
    }
    let rows = entries.map {
      [
        "\($0.benchmark) \($0.params)", shown($0.allocationsPerOp), shown($0.freshAllocationsPerOp),
        shown($0.bytesPerOp), shown($0.threadsCreated),
      ]
    }
    let table = Table.aligned([["benchmark", "allocations/op", "none reused", "bytes/op", "threads"]] + rows)
    try DescriptorOutput.write(table.joined(separator: "\n") + "\n", to: STDOUT_FILENO, name: "standard output")
    progress.say("wrote \(output)")
  }

  /// The allocations of a program, counted in many processes, with CPUs that are free, partly free and busy by turns.
  private static func counted(
    _ arm: GateArm, _ cells: [GatedCell], _ environment: [String: String], _ runner: inout GateRunner
  ) throws -> [AllocationRecord.Entry] {
    try cells.filter(\.countsAllocations).map { gated in
      let processes = try (0..<AllocationCounts.recordedProcesses).map { index in
        let busy = AllocationCounts.busyThreads(process: index, processors: CPUs.available)
        switch BusyThreads.beside(busy, { CountingTier.counts(gated, &runner, arm, environment) }) {
        case .failure(let failure): throw Complaint(.software, "no count for \(gated.cell): \(failure.reason)")
        case .success(let counts?): return counts
        case .success(nil): throw Complaint(.unavailable, Jemalloc.advice)
        }
      }
      // Beside busy threads a pool may take a worker that gets no CPU for a blocked one, and start others.
      let quiet = processes.enumerated().filter {
        AllocationCounts.busyThreads(process: $0.offset, processors: CPUs.available) == 0
      }
      return AllocationRecord.Entry(gated.cell, processes, threads: quiet.map(\.element.threads))
    }
  }

  /// A record of the present counts, under the names and the build that `resources` looks for.
  package static func recorded(
    _ arm: GateArm, _ cells: [GatedCell], as resources: GateTiers.Resources, seed: UInt64, _ progress: Progress
  ) throws -> AllocationRecord {
    var runner = ReportedGate.runner(base: arm, head: arm, seed: seed, progress)
    let outcome = Result { try counted(arm, cells, resources.countingEnvironment ?? [:], &runner) }
    try stopIfInterrupted()
    let entries = try outcome.get()
    var record = AllocationRecord()
    record.add(
      entries.map { $0.on(backend: resources.recordedSubject) }, build: resources.build,
      from: .here(commit: commit(), command: CommandLine.arguments))
    return record
  }

  /// Throws when the user has interrupted the gate. An interrupted process looks like a failed one, but the process has
  /// not failed.
  static func stopIfInterrupted(_ consequence: String = "nothing is concluded") throws {
    guard Interrupt.isRequested else { return }
    Progress().say("interrupted: \(consequence)")
    throw ExitCode(128 + SIGINT)
  }

  /// The commit of the checkout in which the user gives the command; nil outside of a checkout.
  static func commit() -> String? {
    Revision(of: ".", countsNewFiles: false).map {
      $0.commit + ($0.hasChanges.map { $0 ? " with changes" : "" } ?? ", perhaps with changes")
    }
  }
}
