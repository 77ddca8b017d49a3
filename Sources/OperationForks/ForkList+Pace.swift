import CPlatform

extension ForkList {
  /// How fast a list shows forks, and whether it wakes anybody. All times are in ticks of the processor.
  ///
  /// On a driven backend nothing asks a clock, so that two runs of a seed do the same. There each question for the time
  /// is a microsecond later than the last one, and no scope is taken to be short.
  struct Pace {
    /// The time on a driven backend; nil on any other.
    private var driven: UInt64?
    /// How many scopes in a row were shorter than `wakingTime`.
    private var shortScopes = 0
    private var row = Row()
    private var scopeBegan: UInt64 = 0
    /// From when on a sleeping thread is woken for forks of the scope.
    private var wakesFrom: UInt64 = 0
    /// How long the scope has waited for forks that others ran.
    var waited: UInt64 = 0
    /// Whether the scope is taken to be short: nobody is woken for its forks.
    var isQuiet = false
    /// When a fork was shown last since the scope began, or the fork that the thread took; 0 before the first time.
    private var lastShow: UInt64 = 0
    /// What is taken for the time of the first show, so that a short scope reads no clock for it: when the scope began.
    /// 0 where no scope began.
    private var firstShow: UInt64 = 0
    /// After how many forks the owner looks at the clock.
    private var pause = firstPause

    private static let firstPause: UInt32 = 8
    private static let longestPause: UInt32 = 1_024
    /// A scope that has run for this long wakes a sleeping thread: waking costs its caller 5 microseconds.
    private static var wakingTime: UInt64 { ticks(20) }
    /// A scope that is so old wakes a thread for each fork that nobody takes.
    private static var longTime: UInt64 { ticks(100) }
    /// After this number of short scopes in a row the next one is taken to be short.
    private static let shortScopesThatCount = 3
    /// A scope that has looked at the clock so often had many forks: 56, since the pause doubles.
    private static let manyLooks = 3

    @inline(__always)
    static func ticks(_ microseconds: Int) -> UInt64 { UInt64(microseconds) &* cplatform_ticks_per_microsecond() }

    mutating func now() -> UInt64 {
      guard let time = driven else { return cplatform_ticks() }
      driven = time &+ Self.ticks(1)
      return time
    }

    mutating func beginScope(isDriven: Bool) {
      // Not 0, which stands for no time.
      driven = isDriven ? 1 : nil
      scopeBegan = now()
      waited = 0
      wakesFrom = min(scopeBegan &+ Self.wakingTime, row.begin(at: scopeBegan))
      isQuiet = !isDriven && shortScopes >= Self.shortScopesThatCount && scopeBegan < wakesFrom
    }

    mutating func endScope() {
      if driven != nil { return }
      let end = now()
      let time = end &- scopeBegan
      row.end(
        at: end, min(time, Self.wakingTime), hadManyForks: isQuiet ? pause > Self.firstPause << Self.manyLooks : nil)
      shortScopes = time &- waited < Self.wakingTime ? shortScopes + 1 : 0
    }

    /// - Parameter isScope: whether `beginScope` has just read the clock.
    mutating func beginTask(isDriven: Bool, isScope: Bool) {
      goOn(isDriven: isDriven)
      firstShow = isScope ? scopeBegan : 0
      lastShow = 0
      pause = Self.firstPause
    }

    /// The thread forks for a task on a driven backend from now on, or for one on another backend.
    mutating func goOn(isDriven: Bool) { driven = isDriven ? driven ?? 1 : nil }

    mutating func shown() {
      lastShow = firstShow == 0 ? now() : firstShow
      firstShow = 0
      pause = Self.firstPause
    }

    /// How many forks to make before the next look at the clock: twice as many each time.
    mutating func nextPause() -> UInt32 {
      defer { pause = min(pause * 2, Self.longestPause) }
      return pause
    }

    var isDriven: Bool { driven != nil }

    var hasShown: Bool { lastShow != 0 }

    /// Whether the scope is old enough to wake a thread.
    var isOld: Bool { mutating get { now() >= wakesFrom } }

    /// Whether a thread is woken for a fork whose ticket the backend has already.
    var wakesAgain: Bool {
      driven == nil && (firstShow != 0 || row.isWorthAWake || cplatform_ticks() &- scopeBegan >= Self.longTime)
    }

    /// Whether the last fork was shown less than this number of microseconds ago.
    mutating func isSoon(_ microseconds: Int) -> Bool {
      microseconds > 0 && hasShown && now() &- lastShow < Self.ticks(microseconds)
    }
  }

  /// Scopes of a thread that follow each other. One that is short is not worth the wake of a thread, but many are: the
  /// thread that was woken for one helps with the next ones.
  struct Row {
    private var began: UInt64 = 0
    private var ended: UInt64 = 0
    /// How long the last scopes took: a moving average.
    private var typical: UInt64 = 0
    /// Whether the last scope in which nobody helped had many forks. To hand over a piece of it costs more than to run
    /// it. Before the first one: taken to be so.
    private var isFine = true

    /// A row that is so old wakes a thread, if its scopes take the least time: a fork that another thread runs costs
    /// about a microsecond.
    private static var waking: UInt64 { Pace.ticks(10) }
    private static var least: UInt64 { Pace.ticks(2) }
    /// Between scopes of a row: a thread that has found nothing looks for 5 microseconds.
    private static var gap: UInt64 { Pace.ticks(5) }

    /// - Returns: from when on a thread is woken for the row.
    mutating func begin(at now: UInt64) -> UInt64 {
      if now &- ended > Self.gap { began = now }
      return isWorthAWake ? began &+ Self.waking : .max
    }

    /// Whether another thread is a help in scopes such as the last ones.
    var isWorthAWake: Bool { typical >= Self.least && !isFine }

    /// - Parameter hadManyForks: nil when nobody knows.
    mutating func end(at now: UInt64, _ time: UInt64, hadManyForks: Bool?) {
      ended = now
      typical = typical &- typical / 4 &+ time / 4
      if let hadManyForks { isFine = hadManyForks }
    }
  }
}
