import CPlatform

/// Foundation's `threadPriority` (0.0 to 1.0) as a nice value of the thread that runs `main()`.
enum ThreadPriority {
  /// 0.5 keeps the thread's nice value, 1.0 lowers it by 10 (more CPU), 0.0 raises it by 10; within -20 ... 19.
  static func nice(for priority: Double, base: Int32) -> Int32 {
    min(19, max(-20, base + Int32(((0.5 - priority) * 20).rounded())))
  }

  /// Runs `body` at that priority, and then restores the old priority. Where the system would refuse to restore the
  /// old priority, `body` runs at the old priority.
  static func run(at priority: Double, _ body: () -> Void) {
    let base = cplatform_thread_nice()
    let wanted = nice(for: priority, base: base)
    guard wanted != base, cplatform_may_restore_nice(), cplatform_thread_set_nice(wanted) else { return body() }
    let isKept = cplatform_keep_main_nice(base)
    body()
    _ = cplatform_thread_set_nice(base)
    if isKept { cplatform_forget_main_nice() }
  }
}
