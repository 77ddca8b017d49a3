import CPlatform

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Writes a new file beside the place of the old one, and renames it. At the place itself symbolic links are followed;
/// devices and FIFOs are refused. The new file beside it is always made here: whatever has its name already is removed
/// and never written to, because others who may write to the folder could guess the name.
enum TraceFile {
  /// - Parameter fresh: the file that is written first. By default its name is this thread's own, since other
  ///   processes and threads may be writing the same file. The last one to finish is kept, whole.
  static func replace(
    _ path: String, beside fresh: String? = nil, _ body: (inout TraceText) throws -> Void
  ) throws {
    let place = try place(of: path)
    let fresh = fresh ?? "\(place).\(cplatform_process_id()).\(cplatform_thread_id()).partial"
    let file = makeNew(fresh)
    guard file >= 0 else { throw failure(path) }
    do {
      do {
        var text = TraceText { try writeAll($0, to: file, path: path) }
        try body(&text)
        try text.finish()
      } catch {
        close(file)
        throw error
      }
      // Some file systems report only now that they could not keep the data.
      guard close(file) == 0, rename(fresh, place) == 0 else { throw failure(path) }
    } catch {
      unlink(fresh)
      throw error
    }
  }

  /// Makes a file that was not there before. Somebody who puts something in its place again and again can keep the
  /// trace from being written, but cannot choose where it goes.
  /// - Returns: a descriptor, or -1 with `errno` set.
  private static func makeNew(_ path: String) -> Int32 {
    for _ in 0..<100 {
      let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
      if file >= 0 || errno != EEXIST { return file }
      // What a killed process left here, or what somebody put here: a folder stays, and is an error.
      guard unlink(path) == 0 || errno == ENOENT else { return -1 }
    }
    errno = EEXIST
    return -1
  }

  private static func place(of path: String) throws -> String {
    var place = [CChar](repeating: 0, count: Int(PATH_MAX))
    if let reason = cplatform_place_to_replace(path, &place, place.count) {
      throw OperationTraceError(path: path, reason: String(cString: reason))
    }
    return String(decoding: place.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  private static func writeAll(_ bytes: [UInt8], to file: Int32, path: String) throws {
    try bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let count = write(file, bytes.baseAddress.unsafelyUnwrapped + written, bytes.count - written)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw failure(path) }
        written += count
      }
    }
  }

  private static func failure(_ path: String) -> OperationTraceError {
    OperationTraceError(path: path, reason: String(cString: strerror(errno)))
  }
}
