#if HTTP
  import NIOCore
  import NIOHTTP1

  /// Answers the requests of one connection, one after another. All of it runs on the connection's event loop.
  final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// An answer on its way.
    private struct Progress {
      var answer: Answer
      var isKeepAlive: Bool
      var bytesSent = 0
      /// When the answer's own rate allows the next chunk.
      var nextIsDue = NIODeadline.now()

      var bytesLeft: Int { answer.isEndless ? Int.max : answer.body.readableBytes - bytesSent }
    }

    private static let largestChunk = 16_384
    private let core: ServerCore
    private var head: HTTPRequestHead?
    private var progress: Progress?
    private var timer: Scheduled<Void>?

    init(core: ServerCore) { self.core = core }

    func channelActive(context: ChannelHandlerContext) {
      core.update {
        $0.acceptedConnections += 1
        $0.openConnections += 1
        $0.largestOpenConnections = max($0.largestOpenConnections, $0.openConnections)
      }
      context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
      let isCancelled = progress != nil
      core.update {
        $0.openConnections -= 1
        $0.cancelledRequests += isCancelled ? 1 : 0
      }
      progress = nil
      timer?.cancel()
      timer = nil
      context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head): self.head = head
      case .body: break
      case .end:
        guard let head else { return }
        // A client that sends a request before the answer to the last one is not served.
        guard progress == nil else { return context.close(promise: nil) }
        self.head = nil
        let answer = core.answer(method: head.method == .GET, uri: head.uri, Conditions(head.headers))
        progress = Progress(answer: answer, isKeepAlive: head.isKeepAlive)
        after(answer.delay, context) { $0.sendHead($1) }
      }
    }

    /// Runs the step on the event loop, unless the connection closes before.
    private func after(
      _ delay: TimeAmount, _ context: ChannelHandlerContext,
      _ step: @escaping (ConnectionHandler, ChannelHandlerContext) -> Void
    ) {
      let loop = context.eventLoop.assumeIsolated()
      if delay > .zero {
        timer = loop.scheduleTask(in: delay) {
          self.timer = nil
          step(self, context)
        }
      } else {
        loop.execute {
          if self.progress != nil { step(self, context) }
        }
      }
    }

    private func sendHead(_ context: ChannelHandlerContext) {
      guard let progress else { return }
      let answer = progress.answer
      guard !answer.drops else { return close(context) }
      core.update { $0.answersByStatus[answer.status, default: 0] += 1 }
      var headers = HTTPHeaders(answer.headers)
      if !progress.isKeepAlive { headers.add(name: "connection", value: "close") }
      let head = HTTPResponseHead(
        version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      if progress.bytesLeft == 0 {
        end(context)
      } else {
        context.flush()
        sendNext(context)
      }
    }

    /// Waits until the next chunk is due, and sends it.
    private func sendNext(_ context: ChannelHandlerContext) {
      guard var progress else { return }
      let rate = progress.answer.bytesPerSecond
      var count = min(Self.largestChunk, progress.bytesLeft)
      if let rate { count = min(count, max(1, Int(rate / 20))) }
      var due = NIODeadline.now()
      if let rate {
        progress.nextIsDue = max(progress.nextIsDue, due) + .nanoseconds(Int64(Double(count) / rate * 1e9))
        due = progress.nextIsDue
      }
      if let link = core.placeOnLink(byteCount: count) { due = max(due, link) }
      self.progress = progress
      let wait = due - .now()
      after(wait > .milliseconds(1) ? wait : .zero, context) { $0.send(count, $1) }
    }

    private func send(_ count: Int, _ context: ChannelHandlerContext) {
      guard var progress else { return }
      let body = progress.answer.body
      let start = progress.answer.isEndless ? progress.bytesSent % body.readableBytes : progress.bytesSent
      guard let chunk = body.getSlice(at: body.readerIndex + start, length: min(count, body.readableBytes - start))
      else {
        return close(context)
      }
      progress.bytesSent += chunk.readableBytes
      self.progress = progress
      let isLast = progress.bytesLeft == 0
      let written = context.eventLoop.makePromise(of: Void.self)
      written.futureResult.assumeIsolated().whenSuccess {
        self.core.update { $0.bytesSent += chunk.readableBytes }
        // The next chunk waits until the kernel has taken this one. So a slow client slows the server down.
        if !isLast, self.progress != nil { self.sendNext(context) }
      }
      context.write(wrapOutboundOut(.body(.byteBuffer(chunk))), promise: written)
      if isLast { end(context) } else { context.flush() }
    }

    /// Ends the answer, whose body has been written.
    private func end(_ context: ChannelHandlerContext) {
      guard let progress else { return }
      switch progress.answer.ending {
      case .silence: context.flush()
      case .close:
        // Only when the kernel has taken all that was written.
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in self.close(context) }
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: written)
      case .complete:
        self.progress = nil
        let isKeepAlive = progress.isKeepAlive
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in
          if !isKeepAlive { context.close(promise: nil) }
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
      }
    }

    /// Closes the connection as the script asked. The client has not cancelled the request.
    private func close(_ context: ChannelHandlerContext) {
      progress = nil
      context.close(promise: nil)
    }
  }
#endif
