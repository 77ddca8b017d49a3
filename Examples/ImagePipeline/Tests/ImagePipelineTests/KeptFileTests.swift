import FoundationEssentials
import ImagePipeline
import Operations
import Pictures
import Synchronization
import Testing

@Suite("Files that were kept, and odd pictures")
struct KeptFileTests {
  /// A pipeline whose disk has one fresh entry.
  private func filled(
    _ stage: Stage, _ network: SimulatedNetwork, _ folder: Folder, age: Int = 1000
  ) async throws -> ImagePipeline {
    network.serve(HTTPRuleTests.file(1) { $0.cacheControl = "max-age=\(age)" }, at: url(1))
    let pipeline = stage.forgetful(network, try folder.cache())
    _ = try await pipeline.image(for: ImageRequest(1))
    try await stage.settled(pipeline)
    #expect(folder.files.count == 1 && network.requests.count == 1)
    return pipeline
  }

  @Test("a damaged file on disk costs a download, and no picture", arguments: Surroundings.allCases)
  func damaged(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...4) { stage in
      let changes: [@Sendable (inout Data) -> Void] = [
        { $0[$0.count - 5] ^= 1 }, { $0[0] ^= 1 }, { $0 = $0.prefix($0.count / 2) }, { $0 = Data() },
        { $0.append(0) },
        // Still a header, but another one.
        { if let age = $0.firstRange(of: Data("1000".utf8)) { $0.replaceSubrange(age, with: Data("9000".utf8)) } },
        { $0 = Data("no header".utf8) }, { $0 = Data([0x0a]) },
      ]
      for change in changes {
        let (network, folder) = (SimulatedNetwork(stage), Folder())
        let pipeline = try await filled(stage, network, folder)
        let file = folder.file(folder.files[0])
        var data = try Data(contentsOf: file)
        change(&data)
        try data.write(to: file)
        #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
        try await stage.settled(pipeline)
        #expect(network.requests.count == 2)
        // The disk is whole again.
        #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
        #expect(network.requests.count == 2 && pipeline.statistics[.diskHits] == 1)
        try await stage.expectNothingLeft(pipeline, network)
      }
    }
  }

  @Test("a file with the right checksum that is no picture is dropped, fresh or old", arguments: Surroundings.allCases)
  func noPicture(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...8) { stage in
      for age in [1000.0, 0] {
        let (network, folder) = (SimulatedNetwork(stage), Folder())
        network.serve(HTTPRuleTests.file(1), at: url(1))
        let cache = try folder.cache()
        try cache.store(
          DiskCache.Entry(
            url: url(1), bytes: Array("no picture".utf8), etag: "\"a\"",
            confirmed: stage.clock.now.offset / .seconds(1) + 1_000_000,
            maximumAge: age))
        // On real threads the time is that of the machine, so the entry is old there: both ways must end in a picture.
        let pipeline = stage.forgetful(network, cache)
        // Several sizes find the file at the same time.
        let tasks = [nil, 8, 9, 10, 11].map { pipeline.task(for: ImageRequest(1, processing: Processing(size: $0))) }
        for task in tasks {
          let picture = try await task.value
          #expect(picture == task.request.processing.apply(to: Sample.picture(1)))
        }
        try await stage.settled(pipeline)
        #expect(try folder.cache().entry(for: url(1))?.bytes == Sample.png(1))
        #expect(pipeline.statistics[.droppedFiles] >= 1)
        if stage.virtual != nil {
          // Only the old one was asked for by its tag: 304 does not make a picture of it.
          #expect(network.requests.contains { $0.headers["if-none-match"] != nil } == (age == 0))
        }
        try await stage.expectNothingLeft(pipeline, network)
      }
    }
  }

  @Test("on a full disk pictures are delivered, and the failures are counted", arguments: Surroundings.allCases)
  func fullDisk(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...4) { stage in
      let (network, folder, isFull) = (SimulatedNetwork(stage), Folder(), Counter())
      let cache = try DiskCache(path: folder.path, sizeLimit: 1 << 20) { data, file in
        if isFull.value > 0 { throw CocoaError(.fileWriteOutOfSpace) }
        try data.write(to: file, options: .atomic)
      }
      isFull.increment()
      let pipeline = stage.forgetful(network, cache) { $0.maximumAttempts = 1 }
      for number in 0..<5 { #expect(try await pipeline.image(for: ImageRequest(number)) == Sample.picture(number)) }
      // A part that cannot be written does no harm either.
      network.serve(HTTPRuleTests.file(6), at: url(6))
      network.script([.cut(after: 200)], at: url(6))
      await #expect(throws: TransportError.self) { try await pipeline.image(for: ImageRequest(6)) }
      try await stage.expectNothingLeft(pipeline, network)
      #expect(pipeline.statistics[.failedStores] == 6 && cache.count == 0 && folder.files == [])
    }
  }

  @Test("what began earlier does not take the place of what began later")
  func moments() throws {
    let folder = Folder()
    let cache = try folder.cache()
    func entry(_ tag: String) -> DiskCache.Entry {
      DiskCache.Entry(url: url(1), bytes: Array(tag.utf8), etag: tag, confirmed: 0)
    }
    let (first, second, third) = (cache.moment(), cache.moment(), cache.moment())
    try cache.store(entry("second"), at: second)
    try cache.store(entry("first"), at: first)
    #expect(cache.entry(for: url(1))?.etag == "second")
    // A part of an earlier download is of no use behind a whole file, one of a later download is.
    try cache.storePart(entry("part of first"), at: first)
    #expect(cache.part(for: url(1)) == nil)
    try cache.storePart(entry("part of third"), at: third)
    try cache.storePart(entry("part of second"), at: second)
    #expect(cache.part(for: url(1))?.etag == "part of third")
    // Without a moment the entry is the newest.
    try cache.store(entry("now"))
    #expect(cache.entry(for: url(1))?.etag == "now" && cache.part(for: url(1)) == nil && cache.count == 1)
    try cache.store(entry("third"), at: third)
    #expect(cache.entry(for: url(1))?.etag == "now")
    // What an earlier program has stored is older than all.
    let reopened = try folder.cache()
    try reopened.store(entry("new program"), at: reopened.moment())
    #expect(reopened.entry(for: url(1))?.etag == "new program")
  }

  @Test(
    "an answer that is decoded late does not take the place of a newer one on disk", arguments: Surroundings.allCases)
  func lateStore(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let (network, folder) = (SimulatedNetwork(stage), Folder())
      network.serve(HTTPRuleTests.file(1), at: url(1))
      let cache = try folder.cache()
      let pipeline = stage.forgetful(network, cache)
      // The older answer has come, and waits for a decoder.
      pipeline.queues.decode.isSuspended = true
      let old = pipeline.task(for: ImageRequest(1))
      try await stage.until("the answer") { pipeline.queues.decode.operationCount == 1 }
      let other = stage.forgetful(network, cache)
      network.serve(HTTPRuleTests.file(2) { $0.etag = "\"b\"" }, at: url(1))
      #expect(try await other.image(for: ImageRequest(1)) == Sample.picture(2))
      try await stage.settled(other)
      pipeline.queues.decode.isSuspended = false
      #expect(try await old.value == Sample.picture(1))
      try await stage.expectNothingLeft(pipeline, network)
      #expect(cache.entry(for: url(1))?.etag == "\"b\"" && cache.entry(for: url(1))?.bytes == Sample.png(2))
    }
  }

  @Test("sizes that share a download write the file once", arguments: Surroundings.allCases)
  func oneWrite(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...4) { stage in
      let (gate, folder, writes) = (Gate(), Folder(), Counter())
      let network = SimulatedNetwork(stage, entrance: gate)
      let cache = try DiskCache(path: folder.path, sizeLimit: 1 << 20) { data, file in
        writes.increment()
        try data.write(to: file, options: .atomic)
      }
      let pipeline = stage.forgetful(network, cache)
      let requests = [nil, 8, 9, 10].map { ImageRequest(1, processing: Processing(size: $0)) }
      let tasks = try await stage.joined(requests, pipeline)
      gate.open()
      for task in tasks { _ = try await task.value }
      try await stage.expectNothingLeft(pipeline, network)
      // The first write was the version.
      #expect(writes.value == 2 && pipeline.statistics[.fetches] == 1)
    }
  }

  @Test("one processing that many threads use gives each of them the same", arguments: Surroundings.allCases)
  func sharedFilter(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline(seeds: 1...4, forgets: true) {
      $0.workLimit = 4
    } test: { (_, _, pipeline) async throws in
      let processing = Processing(size: 14, filters: [.sepia, .blur(radius: 2), .round(radius: 3), .grey])
      let wanted = (0..<Sample.count).map { processing.apply(to: Sample.picture($0)) }
      let tasks = (0..<48).map { pipeline.task(for: ImageRequest($0, processing: processing)) }
      for (number, task) in tasks.enumerated() { #expect(try await task.value == wanted[number % Sample.count]) }
    }
  }

  @Test("grey files become pictures like all others", arguments: Surroundings.allCases)
  func greyFiles(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline(seeds: 1...4) { _, network, pipeline in
      let (width, height) = (20, 10)
      let rows = (0..<height).map { row in (0..<width).map { UInt8(row * 20 + $0 * 2) } }
      let wanted = Picture(
        width: width, height: height, pixels: rows.joined().flatMap { [$0, $0, $0, 255] })
      network.serve(SimulatedNetwork.File(bytes: GreyPNG.file(rows)), at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == wanted)
      for text in ["size:8", "grey", "sepia", "size:7,blur:2", "round:3"] {
        let processing = try Processing(parsing: text)
        let picture = try await pipeline.image(for: ImageRequest(1, processing: processing))
        #expect(picture == processing.apply(to: wanted))
      }
      // A JPEG beside them.
      network.serve(SimulatedNetwork.File(bytes: Sample.jpeg(2)), at: url(2))
      #expect(try await pipeline.image(for: ImageRequest(2)) == Picture.decode(Sample.jpeg(2)))
    }
  }
}

/// Writes PNG files with one channel, which no encoder here does. They are not compressed.
private enum GreyPNG {
  static func file(_ rows: [[UInt8]]) -> [UInt8] {
    let header = word(UInt32(rows[0].count)) + word(UInt32(rows.count)) + [8, 0, 0, 0, 0]
    let raw: [UInt8] = rows.flatMap { row -> [UInt8] in [0] + row }
    let (low, high) = (UInt8(raw.count & 0xff), UInt8(raw.count >> 8))
    let stream = [0x78, 0x01, 0x01, low, high, ~low, ~high] + raw + word(adler(raw))
    return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunk("IHDR", header) + chunk("IDAT", stream)
      + chunk("IEND", [])
  }

  private static func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + bytes
    return word(UInt32(bytes.count)) + body + word(crc(body))
  }

  private static func word(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
  }

  private static func crc(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(0xffff_ffff as UInt32) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc & 1 == 1 ? (crc >> 1) ^ 0xedb8_8320 : crc >> 1 }
    }
  }

  private static func adler(_ bytes: [UInt8]) -> UInt32 {
    let sums = bytes.reduce((1, 0) as (UInt32, UInt32)) { sums, byte in
      let first = (sums.0 + UInt32(byte)) % 65521
      return (first, (sums.1 + first) % 65521)
    }
    return sums.1 << 16 | sums.0
  }
}
