import CMeasure
import Glibc

/// The reading end of a child's output, and the bytes that are kept of it. A child may print for ever, so the number of
/// kept bytes has a limit.
final class Pipe {
  /// What happens to the bytes when there are more than the limit.
  enum Excess {
    /// `isOverfull` becomes true, and no byte is kept.
    case keepsNothing
    /// The last bytes are kept.
    case keepsTheEnd
  }

  private(set) var reading: Int32
  private(set) var writing: Int32
  private(set) var bytes: [UInt8] = []
  private(set) var isOverfull = false
  private let limit: Int
  private let excess: Excess
  private var chunk = [UInt8](repeating: 0, count: 16_384)

  /// Nil, with the reason in `errno`, when there is no pipe to be had.
  init?(limit: Int, _ excess: Excess) {
    var ends: [Int32] = [-1, -1]
    // The child keeps only the copies that it makes of its ends. A child that another thread starts keeps none.
    guard opbench_pipe(&ends) == 0 else { return nil }
    (reading, writing) = (ends[0], ends[1])
    self.limit = limit
    self.excess = excess
  }

  deinit {
    closeWriting()
    closeReading()
  }

  var isOpen: Bool { reading >= 0 }

  var lines: [String] {
    bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The last line that is not blank.
  var lastLine: String? {
    let line = bytes.split(separator: UInt8(ascii: "\n")).last { $0.contains { $0 > UInt8(ascii: " ") } }
    return line.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Reads what is available, and closes the pipe at the end of the stream.
  func readAvailable() {
    let count = Glibc.read(reading, &chunk, chunk.count)
    if count > 0 {
      keep(chunk[..<count])
    } else if count == 0 || errno != EINTR {
      closeReading()
    }
  }

  /// Reads what the kernel holds at most for a pipe, without waiting for more.
  func readRest() {
    for _ in 0..<(65_536 / chunk.count) where isOpen {
      var descriptor = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
      guard poll(&descriptor, 1, 0) > 0 else { return }
      readAvailable()
    }
  }

  private func keep(_ more: ArraySlice<UInt8>) {
    guard !isOverfull else { return }
    bytes += more
    guard bytes.count > limit else { return }
    switch excess {
    case .keepsNothing:
      isOverfull = true
      bytes = []
    case .keepsTheEnd:
      // Only now and then, so that a byte is moved a few times at most.
      if bytes.count > 2 * limit { bytes.removeFirst(bytes.count - limit) }
    }
  }

  func closeWriting() {
    if writing >= 0 { Glibc.close(writing) }
    writing = -1
  }

  private func closeReading() {
    if reading >= 0 { Glibc.close(reading) }
    reading = -1
  }
}
