import FoundationEssentials
import Synchronization

/// Downloads that are kept on disk, a file each. A file is written whole or not at all, and carries its checksum: what
/// was damaged is dropped when it is read. The least recently used leaves first; after opening, a file counts as used
/// when it was written.
///
/// Calls read and write files, and so block their thread. Several threads may call; two programs must not share a
/// folder.
public final class DiskCache: Sendable {
  /// What is known of a download.
  public struct Entry: Sendable, Hashable {
    public var url: String
    public var bytes: [UInt8]
    public var etag: String?
    public var lastModified: String?
    /// Seconds since 1970, when the server said that this is the picture.
    public var confirmed: Double
    /// How long the entry counts as fresh, in seconds.
    public var maximumAge: Double
    /// Which address answered, behind redirects; nil: the URL itself. The validators are that answer's.
    public var address: String?

    public init(
      url: String, bytes: [UInt8], etag: String? = nil, lastModified: String? = nil, confirmed: Double,
      maximumAge: Double = 0, address: String? = nil
    ) {
      (self.url, self.bytes, self.etag, self.lastModified) = (url, bytes, etag, lastModified)
      (self.confirmed, self.maximumAge) = (confirmed, maximumAge)
      self.address = address == url ? nil : address
    }

    func isFresh(at time: Double) -> Bool { time - confirmed < maximumAge && time >= confirmed - 1 }
  }

  /// The first line of a file. The bytes follow.
  private struct Header: Codable {
    var url: String
    var etag: String?
    var lastModified: String?
    var confirmed: Double
    var maximumAge: Double
    var address: String?
    var count: Int
    /// Of the header, with 0 here, and the bytes.
    var checksum: UInt64 = 0

    func sum(_ bytes: [UInt8]) throws -> UInt64 {
      var header = self
      header.checksum = 0
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return DiskCache.checksum(bytes, behind: DiskCache.checksum(try encoder.encode(header)))
    }
  }

  private struct File {
    var size: Int
    /// Grows with each use.
    var used: UInt64
    /// Tells it from an earlier or later file of the same name.
    var number: UInt64
    /// When its download began: see `moment()`.
    var moment: UInt64
  }

  private struct State {
    var files: [String: File] = [:]
    var size = 0
    var uses: UInt64 = 0
  }

  public static let version = "1"
  private let state = Mutex(State())
  /// Held while files change, so that `state` and the folder agree.
  private let changing = Mutex(())
  private let folder: URL
  private let sizeLimit: Int
  private let write: @Sendable (Data, URL) throws -> Void

  /// Opens a folder, or makes one. What a stopped program left half-written is deleted. Other files are left alone.
  ///
  /// Throws `DiskCacheError` when the folder cannot be used, holds somebody's files and no cache, or a cache of another
  /// version. O(number of files).
  /// - Parameters:
  ///   - path: the folder.
  ///   - sizeLimit: bytes of all files. When they exceed it, files are deleted until 9/10 of it are left.
  ///   - write: writes a file whole or not at all.
  public init(
    path: String, sizeLimit: Int,
    write: @escaping @Sendable (Data, URL) throws -> Void = { try $0.write(to: $1, options: .atomic) }
  ) throws {
    folder = URL(filePath: path, directoryHint: .isDirectory)
    (self.sizeLimit, self.write) = (sizeLimit, write)
    let manager = FileManager.default
    let versionFile = folder.appending(path: "version")
    do {
      try manager.createDirectory(at: folder, withIntermediateDirectories: true)
      let names = try manager.contentsOfDirectory(atPath: folder.path)
      if let found = try? Data(contentsOf: versionFile) {
        let found = String(decoding: found, as: UTF8.self).filter { !$0.isWhitespace }
        guard found == Self.version else { throw DiskCacheError.otherVersion(found: found, path: path) }
      } else {
        guard names.allSatisfy(Self.isTemporary) else {
          throw DiskCacheError.unusable(
            path: path, reason: "the folder holds other files and no cache: name an empty folder")
        }
        try write(Data(Self.version.utf8), versionFile)
      }
      for name in names where Self.isTemporary(name) { try? manager.removeItem(at: folder.appending(path: name)) }
      let files = names.filter { $0.hasSuffix(".image") || $0.hasSuffix(".part") }
      let ages = try files.map { name -> (name: String, size: Int, date: Date) in
        let attributes = try manager.attributesOfItem(atPath: folder.appending(path: name).path)
        let size = (attributes[.size] as? UInt64).map(Int.init) ?? attributes[.size] as? Int ?? 0
        return (name, size, attributes[.modificationDate] as? Date ?? .distantPast)
      }
      state.withLock { state in
        for file in ages.sorted(by: { $0.date < $1.date }) { Self.note(file.name, file.size, 0, in: &state) }
      }
    } catch let error as DiskCacheError {
      throw error
    } catch {
      throw DiskCacheError.unusable(path: path, reason: Self.words(of: error))
    }
    changing.withLock { _ in trim() }
  }

  /// How Foundation names a file until it is whole.
  private static func isTemporary(_ name: String) -> Bool { name.hasPrefix(".dat.nosync") }

  /// Bytes of all files.
  public var size: Int { state.withLock { $0.size } }
  /// Entries and parts of downloads.
  public var count: Int { state.withLock { $0.files.count } }

  public func entry(for url: String) -> Entry? { read(url, ".image") }
  /// The beginning of a download that was interrupted.
  public func part(for url: String) -> Entry? { read(url, ".part") }

  /// A number that grows with each call. Ask for it when a download begins, and store the download with it.
  public func moment() -> UInt64 {
    state.withLock { state in
      state.uses += 1
      return state.uses
    }
  }

  /// Throws when the file cannot be written, such as on a full disk. Nothing half-written is left then.
  /// - Parameter moment: when the download began. What began later stays. Nil: the entry is the newest.
  public func store(_ entry: Entry, at moment: UInt64? = nil) throws { try store(entry, isPart: false, moment) }
  /// Stores the beginning of a download: unless the whole of a later one is there.
  public func storePart(_ part: Entry, at moment: UInt64? = nil) throws { try store(part, isPart: true, moment) }

  public func remove(_ url: String) { _ = changing.withLock { _ in delete(name(url, ".image")) } }
  public func removePart(of url: String) { _ = changing.withLock { _ in delete(name(url, ".part")) } }
  /// Deletes the entry and the part of a URL.
  /// - Returns: whether there was one.
  @discardableResult
  public func removeAll(of url: String) -> Bool {
    changing.withLock { _ in
      let (entry, part) = (delete(name(url, ".image")), delete(name(url, ".part")))
      return entry || part
    }
  }

  public func removeAll() {
    changing.withLock { _ in for name in state.withLock({ Array($0.files.keys) }) { delete(name) } }
  }

  private func store(_ entry: Entry, isPart: Bool, _ moment: UInt64?) throws {
    let moment = moment ?? self.moment()
    let (image, part) = (name(entry.url, ".image"), name(entry.url, ".part"))
    var header = Header(
      url: entry.url, etag: entry.etag, lastModified: entry.lastModified, confirmed: entry.confirmed,
      maximumAge: entry.maximumAge, address: entry.address, count: entry.bytes.count)
    do {
      header.checksum = try header.sum(entry.bytes)
      var data = try JSONEncoder().encode(header)
      data.append(0x0a)
      data.append(contentsOf: entry.bytes)
      try changing.withLock { _ in
        let (whole, begun) = state.withLock { ($0.files[image]?.moment ?? 0, $0.files[part]?.moment ?? 0) }
        // Sizes of one picture share a download: the first one has stored it.
        guard whole < moment, !isPart || begun <= moment else { return }
        let name = isPart ? part : image
        guard data.count <= sizeLimit else {
          delete(name)
          return
        }
        try write(data, folder.appending(path: name))
        state.withLock { Self.note(name, data.count, moment, in: &$0) }
        if !isPart { delete(part) }
        trim()
      }
    } catch {
      throw DiskCacheError.unusable(path: folder.path, reason: Self.words(of: error))
    }
  }

  private func read(_ url: String, _ kind: String) -> Entry? {
    let name = name(url, kind)
    let number = state.withLock { state in
      state.uses += 1
      state.files[name]?.used = state.uses
      return state.files[name]?.number
    }
    guard let number else { return nil }
    guard let data = try? Data(contentsOf: folder.appending(path: name)),
      let end = data.firstIndex(of: 0x0a),
      let header = try? JSONDecoder().decode(Header.self, from: data[..<end]),
      case let bytes = [UInt8](data[(end + 1)...]),
      bytes.count == header.count, (try? header.sum(bytes)) == header.checksum
    else {
      // Damaged: the next request downloads the picture again. A file that was stored meanwhile stays.
      changing.withLock { _ in
        if state.withLock({ $0.files[name]?.number == number }) { delete(name) }
      }
      return nil
    }
    // Another address with the same file name.
    guard header.url == url else { return nil }
    return Entry(
      url: url, bytes: bytes, etag: header.etag, lastModified: header.lastModified, confirmed: header.confirmed,
      maximumAge: header.maximumAge, address: header.address)
  }

  private func trim() {
    let names = state.withLock { state -> [String] in
      guard state.size > sizeLimit else { return [] }
      var excess = state.size - sizeLimit / 10 * 9
      var names: [String] = []
      for (name, file) in state.files.sorted(by: { $0.value.used < $1.value.used }) where excess > 0 {
        names.append(name)
        excess -= file.size
      }
      return names
    }
    for name in names { delete(name) }
  }

  /// - Returns: whether there was such a file.
  @discardableResult
  private func delete(_ name: String) -> Bool {
    let isKnown = state.withLock { state in
      guard let file = state.files.removeValue(forKey: name) else { return false }
      state.size -= file.size
      return true
    }
    if isKnown { try? FileManager.default.removeItem(at: folder.appending(path: name)) }
    return isKnown
  }

  private static func note(_ name: String, _ size: Int, _ moment: UInt64, in state: inout State) {
    state.uses += 1
    state.size += size - (state.files[name]?.size ?? 0)
    state.files[name] = File(size: size, used: state.uses, number: state.uses, moment: moment)
  }

  private func name(_ url: String, _ kind: String) -> String {
    let bytes = Array(url.utf8)
    let (low, high) = (Self.checksum(bytes), Self.checksum(bytes.reversed()))
    return String(low, radix: 36) + "-" + String(high, radix: 36) + kind
  }

  /// FNV-1a: finds damage, and is no protection against an attacker.
  /// - Parameter earlier: the checksum of what stands before the bytes.
  private static func checksum(_ bytes: some Sequence<UInt8>, behind earlier: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64
  {
    bytes.reduce(earlier) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  static func checksum(of fields: [String: String]) -> String {
    let lines = fields.map { "\($0): \($1)\n" }.sorted().joined()
    return String(checksum(lines.utf8), radix: 36)
  }

  private static func words(of error: any Error) -> String {
    guard let error = error as? CocoaError else { return "\(error)" }
    switch error.code {
    case .fileWriteOutOfSpace: return "the disk is full"
    case .fileWriteNoPermission, .fileReadNoPermission: return "no permission"
    case .fileWriteVolumeReadOnly: return "the disk is read-only"
    default: break
    }
    if let code = (error.underlying as? POSIXError)?.code {
      if code == .ENOSPC { return "the disk is full" }
      if code == .ENOTDIR || code == .EEXIST { return "a file stands where a folder is needed" }
    }
    return "it cannot be made or written (\(error.code.rawValue))"
  }
}

/// Why a folder is no cache.
public enum DiskCacheError: Error, Hashable, CustomStringConvertible {
  case unusable(path: String, reason: String)
  case otherVersion(found: String, path: String)

  public var description: String {
    switch self {
    case .unusable(let path, let reason): "the cache in \(path): \(reason)"
    case .otherVersion(let found, let path):
      "the cache in \(path) has version '\(found)', and this program reads version \(DiskCache.version): "
        + "delete it, or name another folder"
    }
  }
}
