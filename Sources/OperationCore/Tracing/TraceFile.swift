import CPlatform

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Writes a new file beside the place of the old one, and renames it. Symbolic links are followed; devices and FIFOs
/// are refused.
enum TraceFile {
  /// - Parameter fresh: the file that is written first. By default its name is this thread's own, since other
  ///   processes and threads may be writing the same file. The last one to finish is kept, whole.
  static func replace(
    _ path: String, beside fresh: String? = nil, _ body: (inout TraceText) throws -> Void
  ) throws {
    let place = try place(of: path)
    let fresh = fresh ?? "\(place).\(cplatform_process_id()).\(cplatform_thread_id()).partial"
    let file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
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
