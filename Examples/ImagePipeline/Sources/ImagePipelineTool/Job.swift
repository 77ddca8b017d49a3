#if HTTP
  import FoundationEssentials
  import HTTPTransport
  import ImagePipeline
  import Logging
  import OperationComposition
  import Operations
  import Pictures
  import ServiceLifecycle
  import Synchronization

  /// One run of the program: every address becomes a picture, and every picture a file.
  final class Job: Service {
    private struct State {
      /// Small pictures for the sheet, and nil where there is none.
      var small: [Picture?]
      var latencies: [Duration] = []
      var failed = 0
      var written = 0
      var isInterrupted = false
      /// A file could not be written: later ones could not, either.
      var failure: Failure?
    }

    private let addresses: [String]
    private let processing: Processing
    private let options: ImagePipelineTool
    private let transport: HTTPTransport
    private let pipeline: ImagePipeline
    private let state: Mutex<State>
    private let display: Display
    private let logger: Logger

    init(_ options: ImagePipelineTool) throws {
      try options.checkNumbers()
      processing = try options.processing()
      addresses = try options.addresses()
      if options.sheet != nil { try Self.checkSheet(of: addresses.count, cell: options.cell) }
      let backend = try options.chosenBackend()
      var configuration = ImagePipeline.Configuration()
      configuration.fetchLimit = options.downloads
      configuration.timeout = .seconds(options.timeout)
      configuration.fields = ["user-agent": "imagepipeline"].merging(try options.fields()) { $1 }
      if let output = options.output {
        do {
          try FileManager.default.createDirectory(at: URL(filePath: output), withIntermediateDirectories: true)
        } catch {
          throw Failure(73, "the folder \(output) cannot be made")
        }
        // Now, and not behind the first download.
        guard FileManager.default.isWritableFile(atPath: output) else {
          throw Failure(73, "nothing can be written into the folder \(output)")
        }
      }
      if let cache = options.cache {
        do {
          configuration.diskCache = try DiskCache(path: cache, sizeLimit: options.cacheSize << 20)
        } catch let error as DiskCacheError {
          if case .otherVersion = error { throw Failure(65, error.description) }
          throw Failure(73, error.description)
        }
      }
      // More connections than downloads: a request waits in the queue, where the most urgent one goes first.
      transport = HTTPTransport(
        connectionsPerHost: options.downloads + 2, readTimeout: max(.seconds(30), configuration.timeout))
      pipeline = ImagePipeline(transport: transport, backend: backend, configuration: configuration)
      state = Mutex(State(small: Array(repeating: nil, count: addresses.count)))
      display = Display(total: addresses.count, isVerbose: options.verbose)
      var logger = Logger(label: "imagepipeline") { StreamLogHandler.standardError(label: $0) }
      logger.logLevel = options.verbose ? .info : .critical
      self.logger = logger
      self.options = options
    }

    /// Runs until everything is done, or SIGINT or SIGTERM comes.
    /// - Returns: the exit code.
    func runUntilSignal() async throws -> Int32 {
      let group = ServiceGroup(
        configuration: .init(
          services: [.init(service: self, successTerminationBehavior: .gracefullyShutdownGroup)],
          gracefulShutdownSignals: [.sigint, .sigterm], logger: Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() }
        ))
      try await group.run()
      await pipeline.shutdown()
      try? await transport.shutdown()
      return try finish()
    }

    func run() async throws {
      let (requests, files, reports) = (
        OperationQueue(backend: pipeline.backend), OperationQueue(backend: pipeline.backend),
        OperationQueue(backend: pipeline.backend)
      )
      requests.name = "pictures"
      // As many as keep every stage busy. A list of 100,000 addresses is no reason for 100,000 requests at once.
      requests.maxConcurrentOperationCount = max(64, 4 * options.downloads)
      files.name = "files"
      files.maxConcurrentOperationCount = pipeline.backend.workerCount
      await withTaskCancellationOrGracefulShutdownHandler {
        for number in addresses.indices where !state.withLock({ $0.isInterrupted }) {
          add(number, requests, files, reports)
        }
        await requests.drained()
        await files.drained()
        await reports.drained()
      } onCancelOrGracefulShutdown: { [self] in
        state.withLock { $0.isInterrupted = true }
        // What has its picture is written; nothing else begins.
        requests.cancelAllOperations()
      }
    }

    private func add(
      _ number: Int, _ requests: OperationQueue, _ files: OperationQueue, _ reports: OperationQueue
    ) {
      let request = ImageRequest(url: addresses[number], processing: processing)
      let url = Address.shown(request.url)
      let picture = requests.addTask(name: url) { [self] in
        let (failure, isInterrupted) = state.withLock { ($0.failure, $0.isInterrupted) }
        // The interruption cancels what has been added. What is added later is told here.
        if isInterrupted { throw CancellationError() }
        if let failure { throw failure }
        let start = ContinuousClock.now
        let picture = try await pipeline.image(for: request)
        let latency = ContinuousClock.now - start
        state.withLock { $0.latencies.append(latency) }
        logger.info("\(url): \(picture.width) x \(picture.height) in \(latency)")
        return picture
      }
      // An operation that receives the picture: it holds no thread until the picture is there.
      let file = files.addTask(name: "\(url), file", receiving: picture) { [self] picture in
        if let output = options.output {
          try FileHandles.write(try picture.encodedPNG(), to: "\(output)/\(fileName(number, url))")
          state.withLock { $0.written += 1 }
        }
        if options.sheet != nil {
          let small = pipeline.backend.run { picture.downscaled(toFit: options.cell) }
          state.withLock { $0.small[number] = small }
        }
      }
      // Behind the file, whatever became of the file.
      let report = TaskOperation { [self] in
        do {
          try await file.value
          display.picture(url, failure: nil)
        } catch is CancellationError {
          return
        } catch {
          failed(url, error)
        }
      }
      report.addDependency(file)
      reports.addOperation(report)
    }

    private func failed(_ url: String, _ error: any Error) {
      let isShown = state.withLock { state in
        guard let failure = error as? Failure else {
          state.failed += 1
          return true
        }
        // The later ones fail for the same reason. The program's last line says the reason.
        state.failure = state.failure ?? failure
        return false
      }
      if isShown { display.picture(url, failure: error) }
    }

    private func fileName(_ number: Int, _ url: String) -> String {
      let digits = String(number + 1)
      let last = URL(string: url)?.deletingPathExtension().lastPathComponent ?? ""
      let name = String(
        last.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") ? $0 : "_" }.prefix(60))
      return String(repeating: "0", count: max(0, 4 - digits.count)) + digits + (name.isEmpty ? "" : "-\(name)")
        + ".png"
    }

    /// The sheet, the summary and the exit code.
    private func finish() throws -> Int32 {
      let state = state.withLock { $0 }
      display.end()
      if let sheet = options.sheet, state.small.contains(where: { $0 != nil }) {
        let columns = Self.columns(of: state.small.count)
        let picture = ContactSheet.make(state.small, cell: options.cell, columns: columns)
        try FileHandles.write(try picture.encodedPNG(), to: sheet)
      }
      try FileHandles.standardOutput(summary(state) + "\n")
      if let failure = state.failure { throw failure }
      if state.isInterrupted { return 130 }
      return state.failed > 0 ? 69 : 0
    }

    private static func columns(of count: Int) -> Int { max(1, Int(Double(count).squareRoot().rounded(.up))) }

    /// A sheet that no file can hold is refused before anything is downloaded.
    private static func checkSheet(of count: Int, cell: Int) throws {
      let columns = columns(of: count)
      let (width, height) = ContactSheet.size(of: count, cell: cell, columns: columns)
      guard Picture.isEncodable(width: width, height: height) else {
        throw Failure(
          64,
          "a sheet of \(count) pictures with --cell \(cell) has \(width) x \(height) pixels, too many for a PNG file: give a smaller --cell, or a shorter list"
        )
      }
    }

    private func summary(_ state: State) -> String {
      let statistics = pipeline.statistics
      let sorted = state.latencies.sorted()
      func quantile(_ part: Double) -> String {
        guard !sorted.isEmpty else { return "-" }
        let index = min(sorted.count - 1, Int((Double(sorted.count) * part).rounded(.down)))
        let milliseconds = sorted[index] / .milliseconds(1)
        return milliseconds < 10 ? "\((milliseconds * 10).rounded() / 10) ms" : "\(Int(milliseconds.rounded())) ms"
      }
      return [
        "\(sorted.count) of \(addresses.count) pictures", "\(state.failed) failed", "\(state.written) files written",
        "\(statistics[.diskHits] + statistics[.notModified]) from the cache",
        "\(statistics[.bytes]) bytes in \(statistics[.fetches]) requests",
        "\(statistics[.retries]) retries", "request to picture: p50 \(quantile(0.5)), p99 \(quantile(0.99))",
      ].joined(separator: ", ")
    }
  }
#endif
