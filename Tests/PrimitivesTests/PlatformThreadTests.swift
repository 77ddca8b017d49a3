import Glibc
import Primitives
import TestSupport
import Testing

@Suite struct PlatformThreadTests {
  /// What the kernel says of the calling thread.
  private struct Facts: Sendable {
    var name: String
    var blocksInterrupt: Bool

    static func ofThisThread() -> Facts {
      var name = [UInt8](repeating: 0, count: 64)
      if let file = fopen("/proc/thread-self/comm", "r") {
        name.removeLast(name.count - fread(&name, 1, name.count, file))
        fclose(file)
      }
      var blocked = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &blocked)
      return Facts(
        name: String(decoding: name, as: UTF8.self), blocksInterrupt: sigismember(&blocked, SIGINT) == 1)
    }
  }

  @Test func `a thread runs its body once, named, with signals blocked`() throws {
    let facts = EventLog<Facts>()
    #expect(PlatformThread.start(name: "a name longer than fifteen bytes") { facts.append(Facts.ofThisThread()) })
    try facts.wait(count: 1, "the thread to run")
    giveOthersAChance()
    let all = facts.events
    #expect(all.count == 1)
    #expect(all[0].name == "a name longer t\n")
    #expect(all[0].blocksInterrupt)
  }

  @Test func `the starting thread keeps its own signal mask`() {
    let before = Facts.ofThisThread().blocksInterrupt
    #expect(PlatformThread.start(name: "probe") {})
    #expect(Facts.ofThisThread().blocksInterrupt == before)
  }

  @Test func `what the body captured is released when it has run`() throws {
    let tracker = LifetimeTracker()
    do {
      let token = tracker.token()
      #expect(PlatformThread.start(name: "captures") { withExtendedLifetime(token) {} })
    }
    try tracker.waitUntilAllReleased("the body's captures")
  }
}
