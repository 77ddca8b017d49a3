import OperationComposition
import Operations
import Pictures

extension ImagePipeline {
  /// How a pipeline works. The values that stand here are those of a program that shows pictures to one user.
  public struct Configuration: Sendable {
    /// Downloads at the same time. Give the HTTP client a greater limit: then requests wait here, where the most urgent
    /// one goes first.
    public var fetchLimit = 6
    /// How many of the downloads may be below `.normal`; nil for no such limit.
    public var prefetchLimit: Int? = 3
    /// Decoders at the same time; nil for one for each CPU. The same for what changes the pictures.
    public var workLimit: Int?
    /// Bytes of the pixels that are kept in memory. What is under way is not counted: a download that waits for a
    /// decoder has its bytes, a decoder has a file and its pixels. So this memory grows with the requests at a time,
    /// and nothing else bounds it.
    public var memoryLimit = 256 << 20
    public var memoryAgeLimit: Duration?
    /// A folder for downloads; nil for none.
    public var diskCache: DiskCache?
    /// Fields of each HTTP request, such as `User-Agent`. At a redirect to another origin `Authorization` and `Cookie`
    /// stay behind. What asks for a part of a file, or whether a file has changed, is the pipeline's own.
    public var fields: [String: String] = [:]
    public var maximumBodyBytes = 64 << 20
    public var decoding = DecodingLimits()
    public var maximumRedirects = 5
    /// The time for one attempt.
    public var timeout = Duration.seconds(30)
    /// Attempts for one download, the first one included.
    public var maximumAttempts = 4
    /// The first wait before a further attempt. Each later one doubles, up to 8 s, and is then drawn between 0 and
    /// that.
    public var backoff = Duration.milliseconds(100)
    /// Longer waits than that are not waited: the download fails. `Retry-After` may ask for one.
    public var longestBackoff = Duration.seconds(30)
    /// What all downloads together may spend on further attempts.
    public var retryBudget: RetryBudget? = RetryBudget(maxTokens: 100, tokenRatio: 0.5)
    /// Requests that may be sent in a second, and at once; nil for any number. The most urgent request is sent next,
    /// behind the one whose turn it is already.
    public var rate: (perSecond: Int, burst: Int)?
    /// The seed of the waits' jitter.
    public var seed: UInt64 = .random(in: 0 ... .max)
    /// For measurements: without it, each request does all the work itself.
    public var coalesces = true
    public var clock = PipelineClock.continuous

    public init() {}
  }
}
