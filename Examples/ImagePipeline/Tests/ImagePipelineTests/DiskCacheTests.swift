import FoundationEssentials
import ImagePipeline
import OperationComposition
import Synchronization
import Testing

@Suite("Disk cache")
struct DiskCacheTests {
  let folder = Folder()

  static func entry(_ number: Int, count: Int = 100, age: Double = 0) -> DiskCache.Entry {
    DiskCache.Entry(
      url: url(number), bytes: (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }, etag: "\"\(number)\"",
      lastModified: "Thu, 01 Jan 1970", confirmed: 5, maximumAge: age)
  }

  @Test("what is stored is found, also after reopening")
  func reopening() throws {
    var cache = try folder.cache()
    for number in 0..<20 { try cache.store(Self.entry(number)) }
    try cache.storePart(Self.entry(3, count: 40))
    try cache.storePart(Self.entry(50, count: 40))
    let (size, count) = (cache.size, cache.count)
    #expect(count == 22)
    cache = try folder.cache()
    #expect(cache.size == size && cache.count == count)
    for number in 0..<20 { #expect(cache.entry(for: url(number)) == Self.entry(number)) }
    #expect(cache.part(for: url(50)) == Self.entry(50, count: 40) && cache.entry(for: url(50)) == nil)
    // The whole file takes the place of the part.
    try cache.store(Self.entry(50))
    #expect(cache.part(for: url(50)) == nil && cache.entry(for: url(50)) == Self.entry(50))
    cache.remove(url(50))
    #expect(cache.entry(for: url(50)) == nil)
    cache.removeAll()
    #expect(cache.count == 0 && cache.size == 0 && folder.files == [])
  }

  @Test("the size limit deletes the least recently used, down to 9/10")
  func sizeLimit() throws {
    let cache = try folder.cache(sizeLimit: 10_000)
    for number in 0..<8 { try cache.store(Self.entry(number, count: 1000)) }
    #expect(cache.count == 8)
    // 0 and 2 are used again.
    #expect(cache.entry(for: url(0)) != nil && cache.entry(for: url(2)) != nil)
    try cache.store(Self.entry(8, count: 1000))
    #expect(cache.size <= 9_000)
    let kept = (0...8).filter { cache.entry(for: url($0)) != nil }
    #expect(kept.contains(0) && kept.contains(2) && kept.contains(8) && !kept.contains(1))
    #expect(kept == [0, 2] + Array((9 - (kept.count - 2))...8))
    #expect(folder.files.count == kept.count)
    // What is larger than the whole cache is not kept, and drops the old entry of its address only.
    try cache.store(Self.entry(8, count: 20_000))
    #expect(cache.entry(for: url(8)) == nil && cache.count == kept.count - 1)
    // A smaller limit at the next opening.
    let smaller = try folder.cache(sizeLimit: 3_000)
    #expect(smaller.size <= 3_000 && folder.files.count == smaller.count)
  }

  @Test("a full disk throws, and leaves what was there")
  func fullDisk() throws {
    let isFull = Mutex(false)
    let cache = try DiskCache(path: folder.path, sizeLimit: 1 << 20) { data, file in
      if isFull.withLock({ $0 }) { throw CocoaError(.fileWriteOutOfSpace) }
      try data.write(to: file, options: .atomic)
    }
    try cache.store(Self.entry(1))
    isFull.withLock { $0 = true }
    let error = #expect(throws: DiskCacheError.self) { try cache.store(Self.entry(1, count: 50)) }
    #expect(error?.description.contains("the disk is full") == true)
    #expect(throws: DiskCacheError.self) { try cache.store(Self.entry(2)) }
    #expect(throws: DiskCacheError.self) { try cache.storePart(Self.entry(2)) }
    #expect(cache.entry(for: url(1)) == Self.entry(1) && cache.count == 1 && folder.files.count == 1)
    isFull.withLock { $0 = false }
    try cache.store(Self.entry(1, count: 50))
    #expect(cache.entry(for: url(1)) == Self.entry(1, count: 50))
  }

  @Test("damage of any byte is found, and the file is dropped")
  func damage() throws {
    let cache = try folder.cache()
    var length = 0
    try cache.store(Self.entry(1, count: 60))
    let file = folder.file(try #require(folder.files.first))
    length = try Data(contentsOf: file).count
    for place in 0..<length {
      try cache.store(Self.entry(1, count: 60))
      var bytes = try Data(contentsOf: file)
      bytes[place] ^= 0x11
      try bytes.write(to: file)
      if let found = cache.entry(for: url(1)) {
        // A change of the header that makes another valid header: never of the bytes.
        #expect(found.bytes == Self.entry(1, count: 60).bytes, "byte \(place)")
      }
    }
    for count in [0, 1, length / 2, length - 1] {
      try cache.store(Self.entry(1, count: 60))
      try Data(Data(contentsOf: file).prefix(count)).write(to: file)
      #expect(cache.entry(for: url(1)) == nil && folder.files == [] && cache.size == 0)
    }
    // A file that somebody has deleted.
    try cache.store(Self.entry(1))
    try FileManager.default.removeItem(at: file)
    #expect(cache.entry(for: url(1)) == nil && cache.size == 0)
  }

  @Test("a folder that cannot be used is refused in words")
  func unusable() throws {
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    try Data("2\n".utf8).write(to: folder.file("version"))
    #expect(throws: DiskCacheError.otherVersion(found: "2", path: folder.path)) { try folder.cache() }
    // A cache of another version is not touched.
    #expect(folder.names == ["version"])
    let path = folder.file("version").path
    let error = #expect(throws: DiskCacheError.self) { try DiskCache(path: path, sizeLimit: 100) }
    #expect(error?.description.contains("a file stands where a folder is needed") == true)
    #expect(throws: DiskCacheError.self) { try DiskCache(path: path + "/below", sizeLimit: 100) }
    // Nobody may write here, not even a privileged user.
    #expect(throws: DiskCacheError.self) { try DiskCache(path: "/proc/nothing", sizeLimit: 100) }
    // A new folder in which nothing can be written.
    let other = Folder()
    #expect(throws: DiskCacheError.self) {
      try DiskCache(path: other.path, sizeLimit: 100) { _, _ in throw CocoaError(.fileWriteNoPermission) }
    }
  }

  @Test("what a stopped program left half-written is deleted at opening, and nothing else")
  func leftovers() throws {
    var cache = try folder.cache()
    try cache.store(Self.entry(1))
    try Data("half".utf8).write(to: folder.file(".dat.nosync1234.Ab3xYz"))
    try Data("mine".utf8).write(to: folder.file("notes.txt"))
    cache = try folder.cache()
    #expect(cache.count == 1 && cache.entry(for: url(1)) == Self.entry(1))
    #expect(folder.files.count == 2 && folder.files.contains("notes.txt"))
  }

  @Test("a folder of somebody's files is no cache, and is not touched")
  func foreignFolder() throws {
    try FileManager.default.createDirectory(at: folder.file("album"), withIntermediateDirectories: true)
    try Data("precious".utf8).write(to: folder.file("album/letter.txt"))
    #expect(throws: DiskCacheError.self) { try folder.cache() }
    #expect(try Data(contentsOf: folder.file("album/letter.txt")) == Data("precious".utf8))
    // A program that was stopped while it made the folder has left no version, and one temporary file.
    let begun = Folder()
    try FileManager.default.createDirectory(atPath: begun.path, withIntermediateDirectories: true)
    try Data("1".utf8).write(to: begun.file(".dat.nosync77.abcdef"))
    #expect(try begun.cache().count == 0)
    #expect(begun.names == ["version"])
  }

  @Test("threads that store, read, trim and delete one name leave what the cache knows of")
  func threads() async throws {
    let cache = try folder.cache(sizeLimit: 2_000)
    for round in 0..<80 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for thread in 0..<4 {
          group.addTask {
            try await Surroundings.spawn { try Self.act(on: cache, SeededGenerator(seed: UInt64(round * 4 + thread))) }
              .value
          }
        }
        try await group.waitForAll()
      }
      // The folder and the cache's own list agree, by names and by bytes.
      let sizes = try folder.files.map { try Data(contentsOf: folder.file($0)).count }
      #expect(cache.count == sizes.count && cache.size == sizes.reduce(0, +))
      #expect(cache.size <= 2_000)
    }
    let reopened = try folder.cache(sizeLimit: 2_000)
    #expect(reopened.count == cache.count && reopened.size == cache.size)
  }

  private static func act(on cache: DiskCache, _ generator: SeededGenerator) throws {
    var generator = generator
    for step in 0..<12 {
      switch Int.random(in: 0..<6, using: &generator) {
      case 0, 1: try cache.store(entry(1, count: 100 + step))
      case 2: try cache.storePart(entry(1, count: 50))
      case 3: cache.remove(url(1))
      case 4: try cache.store(entry(2, count: 1_500))
      default: if let found = cache.entry(for: url(1)) { #expect(found == entry(1, count: found.bytes.count)) }
      }
    }
  }
}
