import ImagePipeline
import OperationComposition
import Operations
import Pictures
import Testing

/// A pipeline that keeps nothing in memory, so that each request asks the disk or the network.
extension Stage {
  func forgetful(
    _ network: SimulatedNetwork, _ cache: DiskCache? = nil,
    _ change: (inout ImagePipeline.Configuration) -> Void = { _ in }
  ) -> ImagePipeline {
    pipeline(network) {
      $0.memoryLimit = 0
      $0.diskCache = cache
      change(&$0)
    }
  }

  /// Waits until what was downloaded is on disk.
  func settled(_ pipeline: ImagePipeline) async throws {
    try await until("the writes") { pipeline.pendingSteps == 0 && pipeline.operationCount == 0 }
  }

  func sleep(_ duration: Duration) async throws { try await clock.sleep(until: clock.now.advanced(by: duration)) }
}

@Suite("HTTP rules")
struct HTTPRuleTests {
  static func file(_ number: Int, _ change: (inout SimulatedNetwork.File) -> Void = { _ in }) -> SimulatedNetwork.File {
    var file = SimulatedNetwork.File(bytes: Sample.png(number), etag: "\"a\"")
    change(&file)
    return file
  }

  @Test("an entry that is fresh is not asked for; an old one is asked for by its validators, and 304 refreshes it")
  func conditions() async throws {
    try await Surroundings.deterministic.run { stage in
      let (network, folder) = (SimulatedNetwork(stage), Folder())
      network.serve(
        Self.file(1) {
          $0.lastModified = "Thu, 01 Jan 1970"
          $0.cacheControl = "public, Max-Age=60"
        }, at: url(1))
      let pipeline = stage.forgetful(network, try folder.cache())
      func fetch(requests: Int, notModified: Int, diskHits: Int) async throws {
        #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
        try await stage.settled(pipeline)
        #expect(network.requests.count == requests && pipeline.statistics[.notModified] == notModified)
        #expect(pipeline.statistics[.diskHits] == diskHits)
      }
      try await fetch(requests: 1, notModified: 0, diskHits: 0)
      #expect(network.requests[0].headers["if-none-match"] == nil)
      try await stage.sleep(.seconds(59))
      try await fetch(requests: 1, notModified: 0, diskHits: 1)
      try await stage.sleep(.seconds(2))
      try await fetch(requests: 2, notModified: 1, diskHits: 1)
      #expect(network.requests[1].headers["if-none-match"] == "\"a\"")
      #expect(network.requests[1].headers["if-modified-since"] == "Thu, 01 Jan 1970")
      // The answer 304 has made the entry fresh again, on disk too.
      try await stage.sleep(.seconds(50))
      try await fetch(requests: 2, notModified: 1, diskHits: 2)
      #expect(try folder.cache().entry(for: url(1))?.maximumAge == 60)
      // Another file in its place.
      network.serve(Self.file(2) { $0.etag = "\"b\"" }, at: url(1))
      try await stage.sleep(.seconds(20))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(2))
      try await stage.expectNothingLeft(pipeline, network)
      #expect(try folder.cache().entry(for: url(1))?.etag == "\"b\"")
    }
  }

  /// The second answer is another file behind another redirect: with tags that differ, and with the same tag.
  @Test("a redirect is asked for each time, and validators go to the address that gave them", arguments: [true, false])
  func redirectsThatChange(isFresh: Bool) async throws {
    try await Surroundings.deterministic.run(seeds: 1...4) { stage in
      let (network, folder) = (SimulatedNetwork(stage), Folder())
      let latest = "http://pictures.test/latest"
      for number in [3, 4] {
        network.serve(
          Self.file(number) {
            $0.etag = isFresh ? "\"\(number)\"" : "\"a\""
            $0.cacheControl = isFresh ? "max-age=3600" : nil
          }, at: url(number))
      }
      let pipeline = stage.forgetful(network, try folder.cache())
      for number in [3, 4, 4] {
        network.script([.redirect("/\(number)")], at: latest)
        #expect(try await pipeline.image(for: ImageRequest(url: latest)) == Sample.picture(number))
        try await stage.settled(pipeline)
      }
      #expect(network.requests(of: latest).allSatisfy { $0.headers["if-none-match"] == nil })
      let tags = network.requests(of: url(4)).map { $0.headers["if-none-match"] }
      #expect(tags == [nil, isFresh ? "\"4\"" : "\"a\""])
      #expect(pipeline.statistics[.notModified] == 1)
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("a redirect with an age holds that long, and one that holds for good as long as its target")
  func redirectsWithAnAge() async throws {
    try await Surroundings.deterministic.withDisk(seeds: 1...4) { (stage, network, pipeline, _) async throws in
      network.serve(Self.file(3) { $0.cacheControl = "max-age=3600" }, at: url(3))
      for (status, control, seconds) in [(302, "max-age=10", 10), (301, nil, 3600), (307, nil, 0)] {
        let from = "http://pictures.test/\(status)"
        var headers = ["location": "/3"]
        headers["cache-control"] = control
        let redirect = SimulatedNetwork.Fault.head(TransportHead(status: status, headers: headers), [])
        network.script([redirect, redirect], at: from)
        func requests(after wait: Int) async throws -> Int {
          try await stage.sleep(.seconds(wait))
          #expect(try await pipeline.image(for: ImageRequest(url: from)) == Sample.picture(3))
          try await stage.settled(pipeline)
          return network.requests(of: from).count
        }
        #expect(try await requests(after: 0) == 1)
        if seconds > 0 { #expect(try await requests(after: seconds - 1) == 1, "\(status)") }
        #expect(try await requests(after: 2) == 2, "\(status)")
      }
    }
  }

  @Test("the beginning of one file is not gone on with by the file of another redirect")
  func partsBehindRedirects() async throws {
    try await Surroundings.deterministic.run(seeds: 1...4) { stage in
      let (network, latest) = (SimulatedNetwork(stage), "http://pictures.test/latest")
      for number in [3, 4] { network.serve(Self.file(number), at: url(number)) }
      network.script([.redirect("/3"), .redirect("/4")], at: latest)
      network.script([.cut(after: 200)], at: url(3))
      let pipeline = stage.forgetful(network) { $0.backoff = .zero }
      #expect(try await pipeline.image(for: ImageRequest(url: latest)) == Sample.picture(4))
      #expect(network.requests.allSatisfy { $0.headers["range"] == nil })
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("an answer is as old as the cache on the way says")
  func ages() async throws {
    try await Surroundings.deterministic.run(seeds: 1...4) { stage in
      for (age, isKept) in [("59", false), ("50", true), ("soon", true), ("99999999999999999999", false)] {
        let (network, folder) = (SimulatedNetwork(stage), Folder())
        let head = TransportHead(status: 200, headers: ["cache-control": "max-age=60", "age": age])
        network.script([.head(head, Sample.png(1))], at: url(1))
        let pipeline = stage.forgetful(network, try folder.cache())
        for _ in 1...2 {
          #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
          try await stage.settled(pipeline)
          try await stage.sleep(.seconds(2))
        }
        #expect(network.requests.count == (isKept ? 1 : 2), "\(age)")
        try await stage.expectNothingLeft(pipeline, network)
      }
    }
  }

  @Test("no-store is not kept, no-cache is asked for each time, odd ages do no harm")
  func cacheControl() async throws {
    try await Surroundings.deterministic.run(seeds: 1...4) { stage in
      let cases: [(control: String, stored: Bool, age: Double)] = [
        ("no-store", false, 0), ("max-age=60, no-cache", true, 0), ("max-age=nan", true, 0), ("max-age=inf", true, 0),
        ("max-age=-5", true, 0), ("max-age=", true, 0), ("NO-STORE, max-age=7", false, 0), ("max-age=1e3", true, 0),
        ("max-age=99999999999999999999", true, 2_147_483_648), ("private , max-age=10", true, 10),
        ("max-age=\"3600\"", true, 3600), ("private=\"a, max-age=5\", max-age = 7", true, 7),
        ("no-cache=\"set-cookie\", max-age=60", true, 60), ("\"", true, 0), ("private=\"x, no-store", true, 0),
      ]
      for (control, stored, age) in cases {
        let (network, folder) = (SimulatedNetwork(stage), Folder())
        network.serve(Self.file(1) { $0.cacheControl = control }, at: url(1))
        let pipeline = stage.forgetful(network, try folder.cache())
        #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
        try await stage.settled(pipeline)
        let entry = try folder.cache().entry(for: url(1))
        #expect((entry != nil) == stored && entry?.maximumAge ?? 0 == age, "\(control)")
        #expect(pipeline.statistics[.failedStores] == 0, "\(control)")
      }
      // An entry whose server says no-store later is dropped: it is not what the server has now.
      let (network, folder) = (SimulatedNetwork(stage), Folder())
      network.serve(Self.file(1), at: url(1))
      let pipeline = stage.forgetful(network, try folder.cache())
      _ = try await pipeline.image(for: ImageRequest(1))
      try await stage.settled(pipeline)
      network.serve(
        Self.file(2) { ($0.etag, $0.cacheControl) = ("\"b\"", "no-store") }, at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(2))
      try await stage.expectNothingLeft(pipeline, network)
      #expect(folder.files == [])
    }
  }

  @Test("an answer without an age is fresh until it expires, by the server's clock; an age goes before that")
  func expires() async throws {
    // The virtual clock begins on Monday, 12 January 1970, at 13:46:40.
    let (now, later) = ("Mon, 12 Jan 1970 13:46:40 GMT", "Mon, 12 Jan 1970 13:47:40 GMT")
    let cases: [(headers: [String: String], age: Double)] = [
      (["expires": later], 60), (["expires": later, "date": now], 60), (["expires": later, "date": "today"], 60),
      (["expires": now, "date": later], 0), (["expires": now], 0), (["expires": "0"], 0), (["expires": "-1"], 0),
      (["expires": later, "date": "Mon, 12 Jan 1970 13:47:00 GMT"], 40),
      // The server's clock is an hour ahead.
      (["expires": "Mon, 12 Jan 1970 15:00:00 GMT", "date": "Mon, 12 Jan 1970 14:59:30 GMT"], 30),
      (["expires": "Sun, 12 Jan 9999 13:47:40 GMT"], 2_147_483_648),
      (["expires": later, "cache-control": "max-age=5"], 5),
      (["expires": later, "cache-control": "no-cache"], 0), (["expires": later, "cache-control": "max-age=x"], 0),
      (["expires": later, "cache-control": "private"], 60), (["expires": "Monday, 12-Jan-70 13:47:40 GMT"], 60),
      (["expires": "Mon Jan 12 13:47:40 1970"], 60), (["expires": "Mon Jan  5 13:47:40 1970"], 0),
      (["expires": "Mon Jan 12 99999999999999999999:47:40 1970"], 0),
    ]
    try await Surroundings.deterministic.run(seeds: 1...2) { stage in
      for (headers, age) in cases {
        let (network, folder) = (SimulatedNetwork(stage), Folder())
        network.script([.head(TransportHead(status: 200, headers: headers), Sample.png(1))], at: url(1))
        let pipeline = stage.forgetful(network, try folder.cache())
        #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
        try await stage.settled(pipeline)
        let entry = try #require(try folder.cache().entry(for: url(1)))
        // Some virtual time passes.
        #expect(entry.maximumAge <= age && entry.maximumAge > age - 1, "\(headers): \(entry.maximumAge)")
      }
    }
  }

  @Test("what an answer 304 says of the picture is the entry's from then on")
  func newValidators() async throws {
    try await Surroundings.deterministic.run(seeds: 1...4) { stage in
      let (network, folder) = (SimulatedNetwork(stage), Folder())
      let cache = try folder.cache()
      network.serve(Self.file(1) { ($0.etag, $0.lastModified) = (nil, "Thu, 01 Jan 1970") }, at: url(1))
      let pipeline = stage.forgetful(network, cache)
      func fetch(_ headers: [String: String]?) async throws -> DiskCache.Entry? {
        if let headers { network.script([.head(TransportHead(status: 304, headers: headers), [])], at: url(1)) }
        #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
        try await stage.settled(pipeline)
        return cache.entry(for: url(1))
      }
      #expect(try await fetch(nil)?.etag == nil)
      let named = try await fetch(["etag": "\"b\""])
      #expect(named?.etag == "\"b\"" && named?.lastModified == "Thu, 01 Jan 1970")
      let dated = try await fetch([
        "etag": "\"c\"", "last-modified": "Fri, 02 Jan 1970", "expires": "Mon, 12 Jan 1970 13:46:50 GMT",
      ])
      #expect(network.requests.last?.headers["if-none-match"] == "\"b\"")
      #expect(dated?.etag == "\"c\"" && dated?.lastModified == "Fri, 02 Jan 1970" && (dated?.maximumAge ?? 0) > 5)
      #expect(dated?.bytes == Sample.png(1))
      try await stage.sleep(.seconds(20))
      // The server wants nothing kept from now on.
      #expect(try await fetch(["cache-control": "no-store"]) == nil)
      #expect(network.requests.last?.headers["if-none-match"] == "\"c\"" && folder.files == [])
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("a body whose end nothing tells, and that makes no picture, is tried again", arguments: Surroundings.allCases)
  func cutWithoutLength(on surroundings: Surroundings) async throws {
    try await surroundings.withDisk(seeds: 1...4) {
      $0.backoff = .zero
    } test: { stage, network, pipeline, folder in
      let whole = Sample.png(1)
      func cut(_ count: Int, _ headers: [String: String] = [:]) -> SimulatedNetwork.Fault {
        .head(TransportHead(status: 200, headers: headers), Array(whole.prefix(count)))
      }
      network.script([cut(300), cut(0), cut(3)], at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      #expect(network.requests.count == 4 && pipeline.statistics[.retries] == 3)
      try await stage.settled(pipeline)
      #expect(try folder.cache().entry(for: url(1))?.bytes == whole)
      // As often as any other attempt, and with the error of the last one.
      network.script([SimulatedNetwork.Fault](repeating: cut(300), count: 9), at: url(2))
      let error = await #expect(throws: PictureError.self) { try await pipeline.image(for: ImageRequest(2)) }
      if case .damaged = error {} else { Issue.record("\(String(describing: error))") }
      #expect(network.requests(of: url(2)).count == 4)
      // Where the length says that all has come, the file itself is damaged. And a page is no picture.
      network.script([cut(300, ["content-length": "300"])], at: url(3))
      network.script([cut(300, ["transfer-encoding": "chunked"])], at: url(4))
      network.script([.head(TransportHead(status: 200), Array("<html></html>".utf8))], at: url(5))
      for number in 3...5 {
        await #expect(throws: PictureError.self) { try await pipeline.image(for: ImageRequest(number)) }
        #expect(network.requests(of: url(number)).count == 1)
      }
    }
  }

  @Test("attempts for bodies without an end cost the budget too")
  func cutWithoutBudget() async throws {
    try await Surroundings.deterministic.withPipeline(seeds: 1...2, forgets: true) {
      $0.retryBudget = RetryBudget(maxTokens: 3, tokenRatio: 0.001)
    } test: { _, network, pipeline in
      let cut = SimulatedNetwork.Fault.head(TransportHead(status: 200), Array(Sample.png(1).prefix(300)))
      network.script([SimulatedNetwork.Fault](repeating: cut, count: 9), at: url(1))
      await #expect(throws: PictureError.self) { try await pipeline.image(for: ImageRequest(1)) }
      #expect(network.requests.count == 2)
    }
  }

  @Test(
    "a coding that was not asked for is named, and not taken for a damaged picture", arguments: Surroundings.allCases)
  func codings(on surroundings: Surroundings) async throws {
    try await surroundings.withDisk(seeds: 1...2) { (_, network, pipeline, folder) async throws in
      for (headers, coding) in [
        (["content-encoding": "gzip"], "gzip"), (["content-encoding": "identity, BR"], "br"),
        (["transfer-encoding": "gzip, chunked"], "gzip"),
      ] {
        network.script([.head(TransportHead(status: 200, headers: headers), Sample.png(1))], at: url(1))
        await #expect(throws: ImagePipelineError.coding(coding, url: url(1))) {
          try await pipeline.image(for: ImageRequest(1))
        }
      }
      #expect(network.requests.count == 3 && folder.files == [])
      for headers in [["content-encoding": "identity"], ["content-encoding": ""], ["transfer-encoding": "Chunked"]] {
        network.script([.head(TransportHead(status: 200, headers: headers), Sample.png(1))], at: url(1))
        #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      }
    }
  }

  @Test("a weak tag is good for If-None-Match, and not for a range", arguments: Surroundings.allCases)
  func weakTag(on surroundings: Surroundings) async throws {
    try await surroundings.withDisk(seeds: 1...4) {
      $0.backoff = .zero
    } test: { stage, network, pipeline, _ in
      network.serve(Self.file(1) { $0.etag = "W/\"a\"" }, at: url(1))
      network.script([.cut(after: 100)], at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      try await stage.settled(pipeline)
      #expect(network.requests.count == 2 && network.requests[1].headers["range"] == nil)
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      #expect(network.requests[2].headers["if-none-match"] == "W/\"a\"")
    }
  }

  @Test("redirects with relative targets are followed, and circles end", arguments: Surroundings.allCases)
  func redirects(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline(seeds: 1...4, forgets: true) { (_, network, pipeline) async throws in
      let start = "http://pictures.test/a/b/start?x"
      network.script([.redirect("../c/next")], at: start)
      network.script([.redirect("//pictures.test/z")], at: "http://pictures.test/a/c/next")
      network.script([.redirect("/3")], at: "http://pictures.test/z")
      #expect(try await pipeline.image(for: ImageRequest(url: start)) == Sample.picture(3))
      #expect(network.requests.map(\.url).last == url(3) && pipeline.statistics[.fetches] == 4)

      network.script([.redirect("/loop2")], at: "http://pictures.test/loop1")
      network.script([.redirect("/loop1")], at: "http://pictures.test/loop2")
      let loop = ImageRequest(url: "http://pictures.test/loop1")
      await #expect(throws: ImagePipelineError.redirects(url: loop.url)) { try await pipeline.image(for: loop) }
      for number in 0..<9 {
        network.script([.redirect("/long\(number + 1)")], at: "http://pictures.test/long\(number)")
      }
      let long = ImageRequest(url: "http://pictures.test/long0")
      let before = network.requests.count
      await #expect(throws: ImagePipelineError.redirects(url: long.url)) { try await pipeline.image(for: long) }
      #expect(network.requests.count - before == 6)
      // Nowhere, to itself, and to what is not HTTP.
      for target in ["", "/odd", "file:///etc/passwd", "http://", "data:,"] {
        network.script([.redirect(target)], at: "http://pictures.test/odd")
        let odd = ImageRequest(url: "http://pictures.test/odd")
        let before = network.requests.count
        await #expect(throws: ImagePipelineError.redirects(url: odd.url), "'\(target)'") {
          try await pipeline.image(for: odd)
        }
        #expect(network.requests.count - before == 1, "'\(target)'")
      }
    }
  }

  @Test("no body is longer than the limit, whatever the server says of its length", arguments: Surroundings.allCases)
  func bodyLimit(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...4) { stage in
      let (network, folder) = (SimulatedNetwork(stage), Folder())
      let limit = 2_000
      let pipeline = stage.forgetful(network, try folder.cache()) { $0.maximumBodyBytes = limit }
      let error = ImagePipelineError.bodyTooLong(limit: limit, url: url(1))
      for length in ["2001", "9223372036854775807", "99999999999999999999999"] {
        network.script(
          [.head(TransportHead(status: 200, headers: ["content-length": length]), [UInt8](repeating: 1, count: 3_000))],
          at: url(1))
        await #expect(throws: error) { try await pipeline.image(for: ImageRequest(1)) }
      }
      network.script([.endless], at: url(1))
      let before = pipeline.statistics[.bytes]
      await #expect(throws: error) { try await pipeline.image(for: ImageRequest(1)) }
      #expect(pipeline.statistics[.bytes] - before <= limit + 200 && pipeline.statistics[.retries] == 0)
      // A file that could be resumed is too long all the same: no part of it is kept.
      network.serve(
        Self.file(1) { ($0.bytes, $0.tellsLength) = ([UInt8](repeating: 9, count: 5_000), false) }, at: url(1))
      await #expect(throws: error) { try await pipeline.image(for: ImageRequest(1)) }
      try await stage.settled(pipeline)
      #expect(folder.files == [])
      // A wrong length does no harm where the bytes are right.
      for length in ["-5", "abc", ""] {
        network.script(
          [.head(TransportHead(status: 200, headers: ["content-length": length]), Sample.png(2))], at: url(2))
        #expect(try await pipeline.image(for: ImageRequest(2)) == Sample.picture(2))
      }
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("what is no picture is an error, is not tried again, and is not kept", arguments: Surroundings.allCases)
  func noPicture(on surroundings: Surroundings) async throws {
    try await surroundings.withDisk(seeds: 1...4) {
      $0.decoding.maximumPixels = 10_000
    } test: { stage, network, pipeline, folder in
      for fault in [SimulatedNetwork.Fault.wrongBytes, .wrongType] {
        network.script([fault], at: url(1))
        await #expect(throws: PictureError.unknownFormat) { try await pipeline.image(for: ImageRequest(1)) }
      }
      // A decompression bomb: a small file with many pixels.
      let bomb = try Picture(width: 400, height: 400, pixels: [UInt8](repeating: 255, count: 640_000)).encodedPNG()
      network.script([.head(TransportHead(status: 200), bomb)], at: url(1))
      await #expect(throws: PictureError.tooLarge(width: 400, height: 400, maximumPixels: 10_000)) {
        try await pipeline.image(for: ImageRequest(1))
      }
      try await stage.settled(pipeline)
      #expect(network.requests.count == 3 && folder.files == [] && pipeline.statistics[.retries] == 0)
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      for (number, status) in [404, 403, 410, 304, 100, 204].enumerated() {
        network.script([.status(status)], at: url(3))
        let error = await #expect(throws: (any Error).self) { try await pipeline.image(for: ImageRequest(3)) }
        #expect(error as? ImagePipelineError == .status(status, url: url(3)), "\(number)")
      }
      // The type that a server tells does not matter: the bytes do.
      network.serve(Self.file(4) { $0.type = "application/octet-stream" }, at: url(4))
      #expect(try await pipeline.image(for: ImageRequest(4)) == Sample.picture(4))
    }
  }
}
