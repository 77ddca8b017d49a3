import Glibc

/// Writes a file beside its place and renames it.
enum TraceFile {
  static func replace(_ path: String, _ body: (inout TraceText) throws -> Void) throws {
    let fresh = path + ".partial"
    let file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw failure(path) }
    do {
      defer { close(file) }
      var text = TraceText { try write($0, to: file, path: path) }
      try body(&text)
      try text.finish()
    } catch {
      unlink(fresh)
      throw error
    }
    guard rename(fresh, path) == 0 else {
      let failure = failure(path)
      unlink(fresh)
      throw failure
    }
  }

  private static func write(_ bytes: [UInt8], to file: Int32, path: String) throws {
    try bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let count = Glibc.write(file, bytes.baseAddress.unsafelyUnwrapped + written, bytes.count - written)
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
