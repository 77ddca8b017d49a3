#if HTTP
  import ImagePipeline
  import PictureServer
  import Testing

  @Suite struct PictureServerTests {
    @Test func aGoodPicture() async throws {
      try await withServer { subject in
        let got = try await subject.get("/picture/17.jpg")
        #expect(got.heads.count == 1)
        #expect(got.status == 200)
        #expect(got["content-type"] == "image/jpeg")
        #expect(got["content-length"] == "100017")
        #expect(got["etag"] == "\"v17\"")
        #expect(got["last-modified"] == "Mon, 01 Jan 2024 00:00:00 GMT")
        #expect(got["cache-control"] == "max-age=3600")
        #expect(got["accept-ranges"] == "bytes")
        #expect(got.body == bytesAt(17))
        try await subject.get("/picture/17.jpg")
        let statistics = subject.server.statistics
        #expect(statistics.requests == 2)
        #expect(statistics.requestsByURI == ["/picture/17.jpg": 2])
        #expect(statistics.answersByStatus == [200: 2])
        #expect(statistics.acceptedConnections == 1)
        try await eventually("all bytes are counted") { subject.server.statistics.bytesSent == 200_034 }
      }
    }

    @Test func whatDoesNotExist() async throws {
      try await withServer { subject in
        for path in ["/picture/100.jpg", "/picture/-1.jpg", "/", "/picture/x.jpg", "/random/x/1.jpg", "/other/1.jpg"] {
          #expect(try await subject.get(path).status == 404, "\(path)")
        }
        let got = try await subject.get("/picture/1.jpg?slwo=5")
        #expect(got.status == 400)
        #expect(String(decoding: got.body, as: UTF8.self).hasPrefix("unknown word 'slwo'; words: status"))
        #expect(try await subject.get("/picture/1.jpg?cut").status == 400)
        #expect(try await subject.get("/picture/1.jpg?slow=0").status == 400)
      }
    }

    @Test(arguments: [
      (["if-none-match": "\"v5\""], 304), (["if-none-match": "\"a\", W/\"v5\""], 304), (["if-none-match": "*"], 304),
      (["if-none-match": "\"v6\""], 200),
      (["if-modified-since": "Mon, 01 Jan 2024 00:00:00 GMT"], 304),
      (["if-modified-since": "Thu, 29 Feb 2024 12:00:00 GMT"], 304),
      (["if-modified-since": "Sun, 31 Dec 2023 23:59:59 GMT"], 200), (["if-modified-since": "yesterday"], 200),
      (["if-modified-since": "Thu, 29 Feb 2024 9223372036854775807:00:00 GMT"], 200),
      (["if-none-match": "\"v6\"", "if-modified-since": "Mon, 01 Jan 2024 00:00:00 GMT"], 200),
    ])
    func revalidation(_ headers: [String: String], _ status: Int) async throws {
      try await withServer { subject in
        let got = try await subject.get("/picture/5.jpg", headers)
        #expect(got.status == status)
        #expect(got.body.isEmpty == (status == 304))
        #expect(got["etag"] == "\"v5\"")
        #expect(try await subject.get("/picture/5.jpg?no-validators", headers).status == 200)
      }
    }

    @Test(arguments: [
      ("bytes=0-9", 0..<10), ("bytes=99990-", 99_990..<100_005), ("bytes=-5", 100_000..<100_005),
      ("bytes=10-1000000", 10..<100_005), ("bytes=0-9223372036854775807", 0..<100_005), ("bytes=0-0", 0..<1),
      ("bytes=-1000000", 0..<100_005),
    ])
    func ranges(_ range: String, _ expected: Range<Int>) async throws {
      try await withServer { subject in
        let got = try await subject.get("/picture/5.jpg", ["range": range])
        #expect(got.status == 206)
        #expect(got["content-range"] == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/100005")
        #expect(got.body == Array(bytesAt(5)[expected]))
      }
    }

    @Test func rangesThatAreNotServed() async throws {
      try await withServer { subject in
        for range in ["bytes=100005-", "bytes=-0"] {
          let got = try await subject.get("/picture/5.jpg", ["range": range])
          #expect(got.status == 416)
          #expect(got["content-range"] == "bytes */100005")
        }
        for range in ["bytes=5-1", "bytes=x-", "lines=0-5", "bytes=0-1,5-6", "bytes=-", "bytes=0-99999999999999999999"]
        {
          #expect(try await subject.get("/picture/5.jpg", ["range": range]).status == 200, "\(range)")
        }
      }
    }

    @Test func ifRange() async throws {
      try await withServer { subject in
        func status(_ query: String, _ validator: String) async throws -> Int? {
          try await subject.get("/picture/5.jpg\(query)", ["range": "bytes=9-", "if-range": validator]).status
        }
        #expect(try await status("", "\"v5\"") == 206)
        #expect(try await status("", "\"v6\"") == 200)
        #expect(try await status("", "W/\"v5\"") == 200)
        #expect(try await status("", "Mon, 01 Jan 2024 00:00:00 GMT") == 206)
        #expect(try await status("", "Tue, 02 Jan 2024 00:00:00 GMT") == 200)
        #expect(try await status("?no-validators", "\"v5\"") == 200)
        let first = try await subject.get("/picture/5.jpg?etag-changes")
        let second = try await subject.get("/picture/5.jpg?etag-changes")
        #expect(first["etag"] != second["etag"])
        #expect(try await status("?etag-changes", second["etag"] ?? "") == 200)
        let bare = try await subject.get("/picture/5.jpg?no-validators")
        #expect(bare["etag"] == nil && bare["last-modified"] == nil)
      }
    }

    @Test func aRandomMixIsTheSameForTheSameSeed() async throws {
      func kinds(_ seed: Int) async throws -> [String] {
        var result: [String] = []
        try await withServer { subject in
          for index in 0..<100 {
            for attempt in 1...3 {
              let kind: String
              do {
                let got = try await subject.get("/random/\(seed)/\(index).jpg")
                kind = got.status == 200 && got.body != bytesAt(index) ? "wrong" : "\(got.status ?? 0)"
              } catch let error as Failure {
                kind = "broken: \(error.reception.status ?? 0)"
              }
              result.append(kind)
              if attempt == 3 { #expect(kind == "200") }
            }
          }
        }
        return result
      }
      let first = try await kinds(1)
      #expect(try await kinds(1) == first)
      #expect(try await kinds(2) != first)
      let faults = first.count { $0 != "200" }
      #expect((10...50).contains(faults), "\(faults) faults in 200 first and second requests")
      #expect(Set(first).isSuperset(of: ["200", "429", "500", "503", "broken: 0", "broken: 200"]))
    }

    @Test func latencyIsLogNormal() {
      let model = NetworkModel(seed: 7, latencyMedianMilliseconds: 40, latencySigma: 0.5)
      let latencies = (0..<20_000).map { model.latencyMilliseconds(uri: "/picture/\($0).jpg", attempt: 1) }.sorted()
      func quantile(_ share: Double) -> Double { latencies[Int(share * Double(latencies.count))] }
      #expect(abs(quantile(0.5) / 40 - 1) < 0.03)
      #expect(abs(quantile(0.95) / (40 * 2.276) - 1) < 0.03)
      #expect(abs(quantile(0.05) / (40 / 2.276) - 1) < 0.03)
      let again = model.latencyMilliseconds(uri: "/a", attempt: 2)
      #expect(model.latencyMilliseconds(uri: "/a", attempt: 2) == again)
      #expect(model.latencyMilliseconds(uri: "/a", attempt: 3) != again)
      let constant = NetworkModel(seed: 7, latencyMedianMilliseconds: 40)
      #expect(constant.latencyMilliseconds(uri: "/a", attempt: 1) == 40)
    }

    @Test func theBandwidthIsShared() async throws {
      try await withServer(network: NetworkModel(seed: 1, bytesPerSecond: 2_000_000)) { subject in
        let time = try await ContinuousClock().measure {
          try await withThrowingTaskGroup { group in
            for index in 0..<8 {
              group.addTask { try await subject.expectPicture(index) }
            }
            try await group.waitForAll()
          }
        }
        #expect(time > .milliseconds(390), "800,028 bytes at 2,000,000 a second")
      }
    }

    @Test func latencyPrecedesTheHead() async throws {
      let network = NetworkModel(seed: 1, latencyMedianMilliseconds: 100, latencySigma: 0.1)
      try await withServer(network: network) { subject in
        let time = try await ContinuousClock().measure { try await subject.get("/picture/1.jpg") }
        #expect(time >= .milliseconds(Int(network.latencyMilliseconds(uri: "/picture/1.jpg", attempt: 1))))
      }
    }

    @Test func startingAndStopping() async throws {
      let server = PictureServer { _ in nil }
      let port = try await server.start()
      await #expect(throws: PictureServerError.self) { try await server.start() }
      let second = PictureServer { _ in nil }
      let error = await #expect(throws: PictureServerError.self) { try await second.start(port: port) }
      #expect(error?.description == "cannot listen on 127.0.0.1:\(port): Address already in use")
      await #expect(throws: PictureServerError.self) { try await PictureServer { _ in nil }.start(port: 65_536) }
      await server.stop()
      await server.stop()
    }
  }
#endif
