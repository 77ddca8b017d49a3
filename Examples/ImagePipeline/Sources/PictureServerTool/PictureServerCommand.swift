import ArgumentParser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Ends the program after one line on the standard error.
func fail(_ text: String, code: Int32) -> Never {
  let line = text.split(whereSeparator: \.isNewline).joined(separator: " ") + "\n"
  _ = line.utf8CString.withUnsafeBytes { write(2, $0.baseAddress, $0.count - 1) }
  exit(code)
}

#if HTTP
  import Dispatch
  import PictureServer
  import Pictures

  /// Serves made-up pictures on the loopback address until it is told to end.
  @main
  struct PictureServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "pictureserver",
      abstract: "Serves made-up pictures on 127.0.0.1, with faults on demand.",
      discussion: """
        Prints "listening on 127.0.0.1:PORT". Ends on SIGTERM, on SIGINT, and when its standard input is closed.
        Picture i is at /picture/i.jpg. An unknown query, such as ?help, lists the faults.
        """)

    @Option(help: "The port. 0 is any free one.")
    var port = 0
    @Option(help: "The number of pictures.")
    var count = 2000
    @Option(help: "The seed of the pictures and of the network.")
    var seed: UInt64 = 1
    @Option(help: "The median latency in milliseconds.")
    var latencyMs = 0.0
    @Option(help: "How far latencies spread: the deviation of their logarithm.")
    var sigma = 0.5
    @Option(help: "Bytes per second for all connections together. Without it there is no limit.")
    var bandwidth: Double?
    @Option(help: "The number of pictures with bytes of their own. Picture i has the bytes of picture i modulo this.")
    var distinct = 64
    @Option(help: "The width of a picture in pixels.")
    var width = 1024
    @Option(help: "The height of a picture in pixels.")
    var height = 768
    @Option(help: "The JPEG quality, from 1 to 100.")
    var quality = 85

    func validate() throws {
      func check(_ isGood: Bool, _ text: String) throws {
        if !isGood { throw ValidationError(text) }
      }
      try check((0...65_535).contains(port), "--port is from 0 to 65535, not \(port)")
      try check((1...10_000_000).contains(count), "--count is from 1 to 10000000, not \(count)")
      try check((0...3_600_000).contains(latencyMs), "--latency-ms is from 0 to 3600000, not \(latencyMs)")
      try check((0...5).contains(sigma), "--sigma is from 0 to 5, not \(sigma)")
      try check(bandwidth.map { $0 >= 1 && $0.isFinite } ?? true, "--bandwidth is 1 or more, not \(bandwidth ?? 0)")
      try check((1...4096).contains(distinct), "--distinct is from 1 to 4096, not \(distinct)")
      try check((1...16_384).contains(width), "--width is from 1 to 16384, not \(width)")
      try check((1...16_384).contains(height), "--height is from 1 to 16384, not \(height)")
      try check((1...100).contains(quality), "--quality is from 1 to 100, not \(quality)")
    }

    static func main() async {
      do {
        guard let command = try parseAsRoot() as? PictureServerCommand else { throw CleanExit.helpRequest() }
        try await command.serve()
      } catch let error as PictureServerError {
        fail(error.description, code: EXIT_FAILURE)
      } catch {
        guard exitCode(for: error) != .success else { exit(withError: error) }
        let isUsage = exitCode(for: error) == .validationFailure
        fail(message(for: error), code: isUsage ? 64 : EXIT_FAILURE)
      }
    }

    private func serve() async throws {
      let network =
        latencyMs > 0 || bandwidth != nil
        ? NetworkModel(
          seed: seed, latencyMedianMilliseconds: latencyMs, latencySigma: sigma, bytesPerSecond: bandwidth) : nil
      // All are made before the first request, so that making them takes no time from what is measured.
      let base = try (0..<min(distinct, count)).map { index in
        let picture = TestPicture.make(seed: seed &+ UInt64(index), width: width, height: height)
        return ServedPicture(bytes: try picture.encodedJPEG(quality: quality), etag: "base")
      }
      let server = PictureServer(network: network) { [count, seed] index in
        guard (0..<count).contains(index) else { return nil }
        return base[index % base.count].renamed(etag: "\(seed)-\(index)", lastModified: 1_704_067_200 + index)
      }
      let ended = Self.whenToldToEnd()
      let bound = try await server.start(port: port)
      print("listening on 127.0.0.1:\(bound)")
      fflush(nil)
      for await _ in ended.events { break }
      await server.stop()
    }

    /// Has an event when a signal comes or the standard input is closed. The sources are kept so that they stay alive.
    private static func whenToldToEnd() -> (events: AsyncStream<Void>, sources: [any DispatchSourceSignal]) {
      let (events, continuation) = AsyncStream.makeStream(of: Void.self)
      let sources = [SIGTERM, SIGINT].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { continuation.yield() }
        source.resume()
        return source
      }
      // Reading blocks, so it has a thread of its own.
      DispatchQueue(label: "standard input").async {
        var byte: UInt8 = 0
        while true {
          let count = read(0, &byte, 1)
          if count == 0 || (count < 0 && errno != EINTR) { break }
        }
        continuation.yield()
      }
      return (events, sources)
    }
  }
#else
  @main
  struct PictureServerCommand {
    static func main() {
      fail("pictureserver was built without the trait HTTP: build it again with the default traits", code: 64)
    }
  }
#endif
