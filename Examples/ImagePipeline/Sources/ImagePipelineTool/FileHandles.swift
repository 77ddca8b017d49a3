import FoundationEssentials
import Glibc

/// The program's output.
enum FileHandles {
  static func standardError(_ text: String) throws { try write(text, to: STDERR_FILENO) }
  static func standardOutput(_ text: String) throws { try write(text, to: STDOUT_FILENO) }
  static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  private static func write(_ text: String, to descriptor: Int32) throws {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Failure(74, "the output cannot be written") }
      bytes = bytes.dropFirst(count)
    }
  }

  /// The bytes of a file, or of a pipe: nil when they cannot be read.
  static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var (bytes, buffer): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 1 << 16))
    while true {
      let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? bytes : nil }
      bytes += buffer.prefix(count)
    }
  }

  /// Writes a file whole or not at all.
  static func write(_ bytes: [UInt8], to path: String) throws {
    do {
      try Data(bytes).write(to: URL(filePath: path), options: .atomic)
    } catch let error as CocoaError {
      let reason =
        switch error.code {
        case .fileWriteOutOfSpace: "the disk is full"
        case .fileWriteNoPermission: "no permission"
        case .fileNoSuchFile: "there is no such folder"
        default: "not possible (\(error.code.rawValue))"
        }
      throw Failure(74, "\(path) cannot be written: \(reason)")
    }
  }
}

/// An end with a line for the user.
struct Failure: Error {
  let code: Int32
  let line: String

  init(_ code: Int32, _ line: String) { (self.code, self.line) = (code, line) }
}

func say(_ line: String) { try? FileHandles.standardError(line + "\n") }
