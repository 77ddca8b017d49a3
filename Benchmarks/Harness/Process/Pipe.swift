import Glibc

/// The reading end of a child's output, and the bytes that have been read.
final class Pipe {
  private(set) var reading: Int32 = -1
  private(set) var writing: Int32 = -1
  private(set) var bytes: [UInt8] = []

  init() {
    var ends: [Int32] = [-1, -1]
    let status = pipe(&ends)
    precondition(status == 0, "no pipe: \(String(cString: strerror(errno)))")
    // The child keeps only the copies that it makes of its ends.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reading, writing) = (ends[0], ends[1])
  }

  var isOpen: Bool { reading >= 0 }

  var lines: [String] {
    bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Reads what is available, and closes the pipe at the end of the stream.
  func readAvailable() {
    var chunk = [UInt8](repeating: 0, count: 16_384)
    let count = Glibc.read(reading, &chunk, chunk.count)
    if count > 0 {
      bytes += chunk[..<count]
    } else if count == 0 || errno != EINTR {
      closeReading()
    }
  }

  func closeWriting() {
    if writing >= 0 { Glibc.close(writing) }
    writing = -1
  }

  func close() {
    closeWriting()
    closeReading()
  }

  private func closeReading() {
    if reading >= 0 { Glibc.close(reading) }
    reading = -1
  }
}
