import Glibc

/// Writes to an open file, a pipe or a terminal.
package enum DescriptorOutput {
  /// Writes all of a text; throws when the text cannot be written.
  /// - Parameter call: the call that writes bytes and says how many it has written.
  package static func write(
    _ text: String, to descriptor: Int32, name: String, _ call: (Int32, UnsafeRawPointer, Int) -> Int = Glibc.write
  ) throws {
    var text = text
    try text.withUTF8 { try write(UnsafeRawBufferPointer($0), to: descriptor, name: name, call) }
  }

  package static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, name: String,
    _ call: (Int32, UnsafeRawPointer, Int) -> Int
  ) throws {
    var written = 0
    while written < bytes.count {
      let count = call(descriptor, bytes.baseAddress! + written, bytes.count - written)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        throw Complaint(.inputOutput, "cannot write \(name): \(String(cString: strerror(errno)))")
      }
      written += count
    }
  }
}
