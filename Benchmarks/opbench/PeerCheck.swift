import ArgumentParser
import CMeasure
import FoundationEssentials
import Glibc
import HarnessMeasuring
import HarnessWords
import Laboratory
import Workloads

/// `opbench peer-check`: holds a program against the peer protocol.
struct PeerCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peer-check",
    abstract: "Hold a program that others are to be measured beside against the peer protocol.",
    discussion: """
      Asks for what a run asks for, and for what no run does, and looks at the answers: sums, counts, clocks, lead-in, budget, \
      its own serial beside each benchmark that forks, wrong requests, and processes that hang, crash or leave others behind. One \
      line for each check. What it cannot see is whether the program has lost a task and says otherwise: the program's own checks \
      are for that, and another sum or number of tasks must make them fail.

      Exit code 0: nothing failed. 66: there is no such program. 70: a check failed. 130: interrupted.
      """)

  @Argument(help: "The program.", completion: .file())
  var program: String

  @Option(
    parsing: .unconditional, help: "After how many seconds a process counts as hung.",
    transform: OptionNumber.count(in: 1...3_600))
  var patience = 60

  func run() throws {
    guard let place = realpath(program, nil), access(place, X_OK) == 0 else {
      throw Complaint(.noInput, "there is no program \(program)")
    }
    defer { free(place) }
    Interrupt.install()
    opbench_adopt_orphans()
    let kit = PeerConformance(
      String(cString: place), patience: Double(patience), endLeftBehind: Self.endLeftBehind,
      say: { try? DescriptorOutput.write($0.line + "\n", to: STDOUT_FILENO, name: "standard output") })
    do { try kit.run() } catch is PeerConformance.Interrupted { throw ExitCode(128 + SIGINT) }
    let failed = kit.findings.count { $0.verdict == .failed }
    let all = Count.of(kit.findings.count, "check")
    guard failed == 0 else {
      throw Complaint(.software, "\(program): \(failed) of \(all) failed, as the lines above say")
    }
    try DescriptorOutput.write("\(program): \(all), and none failed\n", to: STDOUT_FILENO, name: "standard output")
  }

  /// The processes that have become children of this one. One that is about to end gets a moment.
  private static func endLeftBehind() -> Int {
    for _ in 0..<20 where hasChildren { usleep(10_000) }
    guard hasChildren else { return 0 }
    let children = orphans
    for child in children {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
    }
    return children.count
  }

  /// Collects those that have ended.
  private static var hasChildren: Bool {
    while true {
      let ended = waitpid(-1, nil, WNOHANG)
      if ended <= 0 { return ended == 0 }
    }
  }

  private static var orphans: [pid_t] {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return threads.flatMap { thread in
      let children = FileManager.default.contents(atPath: "/proc/self/task/\(thread)/children") ?? Data()
      return String(decoding: children, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
    }
  }
}
