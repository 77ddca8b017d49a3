import CMeasure
import Glibc

/// A process that was started, the leader of a group of its own, until its status is collected.
final class Child {
  let identifier: pid_t
  /// Becomes readable when the process ends; negative when the kernel has no such descriptors.
  private let descriptor: Int32

  /// - Parameter watched: whether to ask the kernel for a descriptor that tells the end of the process. Linux 5.2 and
  ///   older have none. The process is then looked at a hundred times a second.
  init(_ identifier: pid_t, watched: Bool = true) {
    self.identifier = identifier
    descriptor = watched ? opbench_process_descriptor(identifier) : -1
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  enum State { case runs, isStopped, hasEnded }

  /// The status of a process that has ended is not collected, so its number is not given to another process.
  var state: State {
    var information = siginfo_t()
    let status = waitid(P_PID, id_t(identifier), &information, WEXITED | WSTOPPED | WNOHANG | WNOWAIT)
    guard status == 0, information.si_signo != 0 else { return .runs }
    return information.si_code == Int32(CLD_STOPPED) ? .isStopped : .hasEnded
  }

  /// Waits until one of the pipes can be read, the process ends, a signal comes, or that number of nanoseconds has
  /// passed, but at most the interval of `StandStill`; reads what can be read.
  func wait(reading pipes: [Pipe], for nanoseconds: UInt64) {
    let open = pipes.filter(\.isOpen)
    var descriptors = open.map { pollfd(fd: $0.reading, events: Int16(POLLIN), revents: 0) }
    if descriptor >= 0 { descriptors.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)) }
    let most = descriptor >= 0 ? StandStill.interval : 10_000_000
    let milliseconds = nanoseconds > 0 ? (min(most, nanoseconds) - 1) / 1_000_000 + 1 : 0
    guard poll(&descriptors, nfds_t(descriptors.count), Int32(milliseconds)) > 0 else { return }
    for (pipe, descriptor) in zip(open, descriptors) where descriptor.revents != 0 { pipe.readAvailable() }
  }

  /// Waits until a process that is about to stop itself has stopped, or has ended.
  /// - Returns: false when the process goes on for seconds, which is far longer than the kernel takes.
  func waitUntilStopped() -> Bool {
    for look in 0..<5_000 {
      guard state == .runs else { return true }
      usleep(look < 100 ? 50 : 1_000)
    }
    return false
  }

  /// Lets a group that is stopped go on.
  func goOn() { _ = Glibc.kill(-identifier, SIGCONT) }

  /// Kills the process and what is left of its group.
  func kill() {
    _ = Glibc.kill(-identifier, SIGKILL)
    // The process may have gone to another group.
    _ = Glibc.kill(identifier, SIGKILL)
  }

  /// Whether the group has members after the process has ended by itself; they are killed. Asked after `collect()`.
  var hasLeftOthers: Bool {
    guard Glibc.kill(-identifier, 0) == 0 else { return false }
    // A process that has ended is a member until its new parent has collected its status. The number of the group is
    // not given to another process while the group has a member.
    usleep(5_000)
    return Glibc.kill(-identifier, SIGKILL) == 0
  }

  /// Collects the status of the process when the process has ended, and what it took.
  func collect() -> (ending: Ending, usage: ProcessUsage) {
    var status: Int32 = 0
    var usage = rusage()
    while wait4(identifier, &status, 0, &usage) == -1 && errno == EINTR {}
    let number = status & 0x7f
    let ending = number == 0 ? Ending.exited((status >> 8) & 0xff) : .signalled(number)
    return (ending, ProcessUsage(usage))
  }
}
