import FoundationEssentials
import ImagePipeline
import OperationComposition
import Operations
import Pictures
import Testing

/// What others call an address, and what is sent to one.
@Suite("Addresses and fields")
struct AddressTests {
  static let none = [
    "", "picture.jpg", "ftp://h/a.jpg", "file:///etc/passwd", "data:,", "http://", "http:///a.jpg", "http://[",
    "http://[/x",
    "http://]/", "http://%5B/x", "http://[]/", "http://h:0/x", "http://h:65536/x", "http://h:99999/x", "http://h:-1/",
    "http://h:99999999999999999999/x", "http://user:word@h:99999/x", "http://h%0d%0a/x", "http://%00/", "http://a b/",
    "http://:80/", "http+unix://a/b",
  ]

  @Test("what a client may trap on is no address")
  func addresses() throws {
    for text in Self.none {
      #expect(Address(text) == nil, "\(text)")
      // A path on the same server is one.
      if text.hasPrefix("http://") { #expect(Address(text, relativeTo: Address("http://h/")) == nil, "\(text)") }
    }
    for (text, host) in [
      ("http://h/x", "h:80"), ("HTTPS://H.Example/x?y#z", "h.example:443"),
      ("http://127.0.0.1:65535/", "127.0.0.1:65535"),
      ("http://[::1]:8080/x", "[::1]:8080"), ("http://h:/x", "h:80"), ("http://a_b.c/", "a_b.c:80"),
    ] {
      let address = try #require(Address(text), "\(text)")
      #expect(address.text == text && address.host == host && address.authorization == nil)
    }
  }

  @Test("a redirect to what is no address is an error, as one in a circle", arguments: Surroundings.allCases)
  func redirects(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline(seeds: 1...2) { _, network, pipeline in
      for target in Self.none where target.contains(":") {
        network.script([.redirect(target)], at: url(1))
        await #expect(throws: ImagePipelineError.redirects(url: url(1)), "\(target)") {
          try await pipeline.image(for: ImageRequest(1))
        }
      }
      // No attempt is made again for an address that is none.
      for text in Self.none {
        await #expect(throws: TransportError.noAddress(text), "\(text)") {
          try await pipeline.image(for: ImageRequest(url: text))
        }
      }
      #expect(Set(network.requests.map(\.url)) == [url(1)] && pipeline.statistics[.retries] == 0)
    }
  }

  @Test(
    "fields of the pipeline and of the request are sent, and what is read is asked for",
    arguments: Surroundings.allCases)
  func fields(on surroundings: Surroundings) async throws {
    try await surroundings.withDisk(seeds: 1...4) {
      $0.fields = ["User-Agent": "reader", "Referer": "http://pictures.test/", "Range": "bytes=5-"]
    } test: { stage, network, pipeline, folder in
      network.serve(HTTPRuleTests.file(1) { $0.cacheControl = "max-age=86400" }, at: url(1))
      func ask(_ fields: [String: String]) async throws -> TransportRequest? {
        let count = network.requests.count
        #expect(try await pipeline.image(for: ImageRequest(1, fields: fields)) == Sample.picture(1))
        try await stage.settled(pipeline)
        return network.requests.count > count ? network.requests.last : nil
      }
      let plain = try #require(try await ask([:]))
      #expect(
        plain.headers == [
          "accept": "image/jpeg, image/png", "accept-encoding": "identity", "user-agent": "reader",
          "referer": "http://pictures.test/",
        ])
      let own = try #require(
        try await ask([
          "AUTHORIZATION": "Bearer secret", "referer": "http://other.test/", "If-None-Match": "*",
          "accept": "image/png",
        ]))
      #expect(
        own.headers == [
          "accept": "image/png", "accept-encoding": "identity", "user-agent": "reader", "referer": "http://other.test/",
          "authorization": "Bearer secret",
        ])
      // Who asks with other fields shares nothing; who asks with the same ones finds the file.
      #expect(try await ask(["authorization": "Bearer other"])?.headers["authorization"] == "Bearer other")
      #expect(try await ask(["Authorization": "Bearer other"]) == nil)
      #expect(try await ask([:]) == nil)
      for name in folder.files {
        #expect(!String(decoding: try Data(contentsOf: folder.file(name)), as: UTF8.self).contains("Bearer"))
      }
      #expect(folder.files.count == 3)
    }
  }

  @Test("requests at one time share a download where their fields are the same", arguments: Surroundings.allCases)
  func coalescing(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...4) { stage in
      let gate = Gate()
      let network = SimulatedNetwork(stage, entrance: gate)
      let pipeline = stage.pipeline(network)
      let tasks = [[:], ["Referer": "a"], ["referer": "a"], ["referer": "b"]].map {
        pipeline.task(for: ImageRequest(1, fields: $0))
      }
      try await stage.until("three downloads") { network.running == 3 }
      gate.open()
      for task in tasks { #expect(try await task.value == Sample.picture(1)) }
      #expect(network.requests.count == 3)
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("what proves who asks is not sent to another origin", arguments: Surroundings.allCases)
  func otherOrigins(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...2) { stage in
      let secret = ["authorization": "Bearer secret", "cookie": "a=b", "referer": "http://pictures.test/"]
      for (target, isSame) in [
        ("/next", true), ("HTTP://PICTURES.TEST:80/next", true), ("http://pictures.test:8080/next", false),
        ("https://pictures.test/next", false), ("http://other.test/next", false),
      ] {
        let network = SimulatedNetwork(stage)
        network.script([.redirect(target)], at: url(1))
        // Back again: what was left behind once stays behind.
        let next = target.hasPrefix("/") ? "http://pictures.test/next" : target
        network.script([.redirect(url(2))], at: next)
        let pipeline = stage.forgetful(network)
        #expect(try await pipeline.image(for: ImageRequest(1, fields: secret)) == Sample.picture(2))
        #expect(network.requests.map(\.url) == [url(1), next, url(2)])
        #expect(
          network.requests.map { $0.headers["authorization"] != nil } == [true, isSame, isSame], "\(target)")
        #expect(network.requests.map { $0.headers["cookie"] != nil } == [true, isSame, isSame], "\(target)")
        #expect(network.requests.allSatisfy { $0.headers["referer"] == secret["referer"] })
        try await stage.expectNothingLeft(pipeline, network)
      }
    }
  }

  @Test("a password in an address is used, and shown nowhere", arguments: Surroundings.allCases)
  func passwords(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...4) { stage in
      let (network, folder, gate) = (SimulatedNetwork(stage), Folder(), Gate())
      network.serve(HTTPRuleTests.file(1), at: url(1))
      network.script([.gate(gate, after: 50)], at: url(1))
      let pipeline = stage.forgetful(network, try folder.cache())
      let request = ImageRequest(url: "http://user:p%40ss%20word@pictures.test/1")
      let task = pipeline.task(for: request)
      try await stage.until("the download") { network.running == 1 }
      // "user:p@ss word"
      #expect(network.requests.map { $0.headers["authorization"] } == ["Basic dXNlcjpwQHNzIHdvcmQ="])
      #expect(network.requests.map(\.url) == [url(1)])
      #expect(pipeline.queues.fetch.operations.map(\.name) == [url(1)])
      #expect(pipeline.operation(for: request).name == url(1))
      gate.open()
      #expect(try await task.value == Sample.picture(1))
      try await stage.settled(pipeline)
      for name in folder.files {
        let text = String(decoding: try Data(contentsOf: folder.file(name)), as: UTF8.self)
        #expect(!text.contains("ss%20") && !text.contains("ss word") && !text.contains("dXNlcjp"))
      }
      // That of a redirect is for the server of the redirect.
      network.script([.redirect("http://a:b@other.test/3")], at: url(4))
      network.serve(HTTPRuleTests.file(3), at: "http://other.test/3")
      #expect(try await pipeline.image(for: ImageRequest(url: "http://c:d@pictures.test/4")) == Sample.picture(3))
      #expect(network.requests.suffix(2).map { $0.headers["authorization"] } == ["Basic Yzpk", "Basic YTpi"])
      #expect(network.requests.last?.url == "http://other.test/3")
      // Errors.
      network.script([.status(404)], at: url(5))
      let error = await #expect(throws: ImagePipelineError.self) {
        try await pipeline.image(for: ImageRequest(url: "http://c:d@pictures.test/5"))
      }
      #expect(error == .status(404, url: url(5)))
      #expect(Address.shown("http://user:word@h:99999/x") == "http://…@h:99999/x")
      #expect(Address.shown("user:word@h/x") == "…@h/x" && Address.shown("http://h/a@2x.png") == "http://h/a@2x.png")
      #expect(Address.shown("http://user:wo/rd@h/") == "http://…@h/")
      try await stage.expectNothingLeft(pipeline, network)
    }
  }
}
