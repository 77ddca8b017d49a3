import CPlatform

/// How a thread helps. All times are in ticks of the processor.
///
/// Two threads that run nodes of some nanoseconds take longer than one: each waits for counts that the other has
/// written. So a helper that has run some short bodies looks on, and takes nothing for a while. When nobody else has
/// begun a node meanwhile, there is nobody to disturb: then the helper goes on without a pause.
struct HelpingPace {
  private let end = cplatform_ticks() &+ Self.longestHelp
  /// What the bodies took that this thread has run since it began last.
  private var bodies: UInt64 = 0
  private var nodes: UInt64 = 0
  private var pause: UInt64 = 0
  /// Nobody else began a node while this thread paused.
  private var isAlone = false
  /// No node is taken before this time.
  private(set) var next: UInt64 = 0

  private static let microsecond = cplatform_ticks_per_microsecond()
  /// A thread that helps goes back to its backend after this time: there may be more urgent jobs.
  private static let longestHelp = 100 * microsecond
  /// A body that takes less is short.
  private static let short = microsecond / 8
  /// After this number of nodes it shows whether their bodies are short.
  private static let fewNodes: UInt64 = 4
  private static let longestPause = 16 * microsecond

  private var areShort: Bool { bodies < Self.short &* nodes }

  /// The thread begins to run nodes.
  /// - Parameter isQuiet: whether nobody else has begun a node since `rest`.
  mutating func begin(isQuiet: Bool) {
    (bodies, nodes) = (0, 0)
    isAlone = pause > 0 && isQuiet
  }

  mutating func ran(for time: UInt64) {
    nodes &+= 1
    bodies &+= time
  }

  /// Whether the thread stops running nodes: behind some short ones, or when its time is over.
  var stops: Bool { nodes >= Self.fewNodes && areShort && !isAlone || isOver }

  var isOver: Bool { cplatform_ticks() > end }

  /// The thread has stopped running nodes.
  mutating func rest() {
    pause = nodes > 0 && areShort && !isAlone ? min(max(Self.microsecond, 2 * pause), Self.longestPause) : 0
    next = cplatform_ticks() &+ pause
  }
}
