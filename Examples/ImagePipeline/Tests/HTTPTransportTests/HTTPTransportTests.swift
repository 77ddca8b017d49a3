#if HTTP
  import HTTPTransport
  import ImagePipeline
  import PictureServer
  import Synchronization
  import Testing

  @Suite struct HTTPTransportTests {
    // MARK: Answers that are no failure of the connection

    @Test func aStatusIsNotAnError() async throws {
      try await withServer { subject in
        for (query, status) in [("fault=status404", 404), ("status=500", 500), ("503", 503), ("status410", 410)] {
          #expect(try await subject.get("/picture/1.jpg?\(query)").status == status)
        }
        let got = try await subject.get("/picture/1.jpg?429&retry-after=1")
        #expect(got.status == 429)
        #expect(got["retry-after"] == "1")
      }
    }

    @Test func faultsHealAndAreCountedByAddress() async throws {
      try await withServer { subject in
        for key in ["a", "b"] {
          let path = "/picture/1.jpg?status=500&times=2&key=\(key)"
          for status in [500, 500, 200, 200] {
            let got = try await subject.get(path)
            #expect(got.status == status)
          }
        }
      }
    }

    @Test func noRedirectIsFollowed() async throws {
      try await withServer { subject in
        let got = try await subject.get("/picture/1.jpg?redirect=/picture/2.jpg?status=500%26times=1")
        #expect(got.status == 302)
        #expect(got["location"] == "/picture/2.jpg?status=500&times=1")
        #expect(try await subject.get("/picture/1.jpg?redirect=loop")["location"] == "/picture/1.jpg?redirect=loop")
        #expect(subject.server.statistics.requests == 2)
      }
    }

    @Test func wrongContentIsPassedOn() async throws {
      try await withServer { subject in
        let garbage = try await subject.get("/picture/1.jpg?garbage")
        #expect(garbage["content-type"] == "image/jpeg")
        #expect(garbage.body.count == 100_001 && garbage.body != bytesAt(1))
        #expect(try await subject.get("/picture/1.jpg?garbage").body == garbage.body)
        #expect(try await subject.get("/picture/1.jpg?wrongtype")["content-type"] == "text/html")
        // A status without a body.
        #expect(try await subject.get("/picture/1.jpg?status=204").chunks == 0)
      }
    }

    @Test func aSlowBodyArrivesInParts() async throws {
      try await withServer { subject in
        var got = Reception()
        let time = try await ContinuousClock().measure { got = try await subject.get("/picture/1.jpg?slow=400000") }
        #expect(got.body == bytesAt(1))
        #expect(got.chunks > 1)
        #expect(time > .milliseconds(240), "100,001 bytes at 400,000 a second")
        let delayed = try await ContinuousClock().measure { try await subject.get("/picture/1.jpg?delay=100") }
        #expect(delayed >= .milliseconds(100))
      }
    }

    // MARK: Failures

    @Test func aBodyThatBreaksOff() async throws {
      try await withServer { subject in
        let path = "/picture/1.jpg?cut=50000&times=1"
        let failure = try await subject.failure(path)
        #expect(failure.text.hasSuffix("closed the connection before its answer was complete"))
        #expect(failure.reception.status == 200)
        let kept = failure.reception.body
        #expect(kept.count <= 50_000 && kept == Array(bytesAt(1).prefix(kept.count)))
        let rest = try await subject.get(path, ["range": "bytes=\(kept.count)-", "if-range": "\"v1\""])
        #expect(rest.status == 206)
        #expect(kept + rest.body == bytesAt(1))
      }
    }

    @Test(arguments: ["short", "drop", "cut=0", "endless&cut=70000"])
    func anIncompleteAnswer(_ fault: String) async throws {
      try await withServer { subject in
        let failure = try await subject.failure("/picture/1.jpg?\(fault)")
        #expect(
          failure.text == "127.0.0.1:\(subject.port) closed the connection before its answer was complete")
        #expect((failure.reception.status == 200) == (fault != "drop"))
        // The server has closed, and the client has not cancelled.
        try await eventually("closed") { subject.server.statistics.openConnections == 0 }
        #expect(subject.server.statistics.cancelledRequests == 0)
        #expect(subject.server.statistics.requests == 1)
        #expect(try await subject.get("/picture/1.jpg").body == bytesAt(1))
      }
    }

    @Test(arguments: ["stall", "stall=5000", "delay=3600000"])
    func silence(_ fault: String) async throws {
      try await withServer(readTimeout: .milliseconds(300)) { subject in
        let failure = try await subject.failure("/picture/1.jpg?\(fault)")
        #expect(failure.text == "127.0.0.1:\(subject.port) was silent for 0.3 seconds")
        try await eventually("closed") { subject.server.statistics.openConnections == 0 }
        #expect(subject.server.statistics.cancelledRequests == 1)
      }
    }

    @Test func aClosedPort() async throws {
      let server = PictureServer { _ in nil }
      let port = try await server.start()
      await server.stop()
      let transport = HTTPTransport(connectTimeout: patience, readTimeout: patience)
      let error = await #expect(throws: TransportError.self) {
        try await transport.send(
          TransportRequest(url: "http://127.0.0.1:\(port)/picture/1.jpg"), head: { _ in }, chunk: { _ in })
      }
      #expect(error?.description == "cannot connect to 127.0.0.1:\(port): Connection refused")
      try await transport.shutdown()
    }

    @Test(arguments: [
      "", "picture.jpg", "ftp://example.org/a.jpg", "http://", "http:///a.jpg", "file:///a.jpg", "http://[",
      "http+unix://a/b", "http://[/x", "http://]/", "http://127.0.0.1:99999/x", "http://127.0.0.1:0/x",
      "http://127.0.0.1:99999999999999999999/x",
    ])
    func anAddressThatIsNone(_ url: String) async throws {
      let transport = HTTPTransport(connectTimeout: patience, readTimeout: patience)
      let error = await #expect(throws: TransportError.self) {
        try await transport.send(TransportRequest(url: url), head: { _ in }, chunk: { _ in })
      }
      #expect(
        error?.description
          == "'\(url)' cannot be loaded: an address is http:// or https:// with a host, as in https://example.org/a.jpg, and its port is from 1 to 65535"
      )
      try await transport.shutdown()
    }

    @Test(arguments: ["http://127.0.0.1:99999/x", "http://[/x", "http://%255B/x", "//]/", "http://127.0.0.1:-1/"])
    func aRedirectToAnAddressThatIsNone(_ target: String) async throws {
      try await withServer { subject in
        let pipeline = ImagePipeline(transport: subject.transport)
        let url = subject.request("/picture/1.jpg?redirect=\(target)").url
        let error = await #expect(throws: ImagePipelineError.self) {
          try await pipeline.image(for: ImageRequest(url: url))
        }
        #expect(error == .redirects(url: url))
        await pipeline.shutdown()
      }
    }

    @Test func aHeaderThatIsNone() async throws {
      try await withServer { subject in
        let failure = try await subject.failure("/picture/1.jpg", ["range": "bytes=0-\r\nhost: elsewhere"])
        #expect(failure.text.hasPrefix("the request to 127.0.0.1:\(subject.port) failed: "))
        #expect(subject.server.statistics.requests == 0)
      }
    }

    @Test func shuttingDown() async throws {
      try await withServer { subject in
        async let failure = subject.failure("/picture/1.jpg?stall")
        try await eventually("asked") { subject.server.statistics.answersByStatus[200] == 1 }
        try await subject.transport.shutdown()
        #expect(try await failure.text == "the transport is shut down")
        #expect(try await subject.failure("/picture/1.jpg").text == "the transport is shut down")
        try await subject.transport.shutdown()
      }
    }

    @Test func aTransportThatIsLetGoOfShutsDown() async throws {
      let server = PictureServer { _ in pictureAt(1) }
      let port = try await server.start()
      do {
        let transport = HTTPTransport(connectTimeout: patience, readTimeout: patience)
        let request = TransportRequest(url: "http://127.0.0.1:\(port)/picture/1.jpg")
        try await transport.send(request, head: { _ in }, chunk: { _ in })
      }
      try await eventually("closed") { server.statistics.openConnections == 0 }
      await server.stop()
    }
  }
#endif
