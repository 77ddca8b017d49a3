import FlyingFox
import Glibc
import Operations

/// A server with two kinds of requests, on two CPUs: a page that somebody looks at, and an export that may take its
/// time. Both compute for about two milliseconds.
///
/// `QueueServer queue` computes in operations: two at a time, of which one may be an export. `QueueServer tasks`
/// computes in plain tasks with the same two priorities. With `installed` behind the port the work-stealing pool is the
/// default executor of the process.
@main
struct QueueServer {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let executor = arguments.dropFirst(2)
    guard let port = arguments.dropFirst().first.flatMap({ UInt16($0) }), let compute = compute(in: arguments.first),
      executor.isEmpty || executor.elementsEqual(["installed"])
    else {
      let usage = "usage: QueueServer queue|tasks PORT [installed]\n"
      write(STDERR_FILENO, usage, usage.utf8.count)
      exit(EX_USAGE)
    }
    if !executor.isEmpty { try StealingBackend.shared.installAsDefaultExecutor() }
    let server = try HTTPServer(address: .inet(ip4: "127.0.0.1", port: port), logger: .disabled)
    // In front of all routes: what this throws goes on to the next one.
    await server.appendRoute("*") { request in
      guard request.mayHaveLongBody else { throw HTTPUnhandledError() }
      return HTTPResponse(refusing: .payloadTooLarge)
    }
    await server.appendRoute("GET /page") { _ in await response(compute(true, picture)) }
    await server.appendRoute("GET /export") { _ in await response(compute(false, picture)) }
    // Costs the way to the answer and back, and nothing else.
    await server.appendRoute("GET /number") { _ in await response(compute(true) { 7 }) }
    try await server.run()
  }

  typealias Work = @Sendable () -> UInt64

  /// - Returns: a function that does work, urgently or not.
  static func compute(in kind: String?) -> (@Sendable (_ isUrgent: Bool, _ work: @escaping Work) async -> UInt64)? {
    switch kind {
    case "queue":
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 2
      // The handler's task has medium priority, and lends it to an operation that it awaits. So an export is `normal`,
      // and what must not wait behind exports is above that.
      queue.limits[below: .high] = 1
      return { isUrgent, work in
        (try? await queue.addTask(priority: isUrgent ? .high : .normal) { work() }.value) ?? 0
      }
    case "tasks":
      return { isUrgent, work in await Task(priority: isUrgent ? .high : .medium) { work() }.value }
    default: return nil
    }
  }

  static func response(_ sum: UInt64) -> HTTPResponse {
    HTTPResponse(statusCode: .ok, body: .init("\(sum)\n".utf8))
  }

  /// Computes for about two milliseconds.
  @Sendable static func picture() -> UInt64 {
    var value: UInt64 = 0x9e37_79b9
    for _ in 0..<1_200_000 {
      value ^= value << 13
      value ^= value >> 7
      value ^= value << 17
    }
    return value
  }
}

extension HTTPRequest {
  private static let longestBody = 1 << 16

  /// A body of chunks tells no length before its end.
  var mayHaveLongBody: Bool {
    headers[.transferEncoding] != nil || headers[.contentLength].flatMap { Int($0) } ?? 0 > Self.longestBody
  }
}

extension HTTPResponse {
  /// An answer behind which the connection is closed. FlyingFox would read the rest of the body as the next request,
  /// byte by byte, on the threads that all answers need. It lets go of the rest only where a connection goes over to a
  /// web socket: to one without a frame, here.
  init(refusing status: HTTPStatusCode) {
    self.init(headers: [.connection: "close", .contentLength: "0"], webSocket: NoFrames())
    statusCode = status
  }

  private struct NoFrames: WSHandler {
    func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) -> AsyncStream<WSFrame> {
      AsyncStream { $0.finish() }
    }
  }
}
