import Glibc
import HarnessWords

/// The place of an output that the user has named. A rename would replace a device, a FIFO or a symbolic link by a
/// file, so the kinds of places are told apart.
package enum OutputPlace: Hashable, Sendable {
  /// A file, or a name without a file yet, with all symbolic links resolved. The output is written beside the place and
  /// renamed.
  case file(String)
  /// A device, a FIFO, a socket or a file that is already open. The output is written to the place and never renamed.
  case stream(String)

  /// Throws one line when the name is a folder, or when its links go in a circle.
  package init(_ name: String) throws {
    var place = name
    // The kernel follows 40 links too.
    for _ in 0..<40 {
      var status = stat()
      if stat(place, &status) == 0 {
        guard status.st_mode & S_IFMT != S_IFDIR else {
          throw Complaint(.cannotCreate, "cannot write \(name): it is a folder")
        }
        // A link in these folders stands for a file that a process has open. After a rename, the process would go on
        // with the replaced file.
        let isOpen = place.hasPrefix("/proc/") || place.hasPrefix("/dev/fd/")
        guard status.st_mode & S_IFMT == S_IFREG, !isOpen else {
          self = .stream(name)
          return
        }
      }
      guard let target = Self.target(of: place) else {
        self = .file(place)
        return
      }
      place = target
    }
    throw Complaint(.cannotCreate, "cannot write \(name): \(String(cString: strerror(ELOOP)))")
  }

  /// The name of a file that can be renamed into its place; throws one line when another kind of file is there.
  package static func regularFile(_ name: String) throws -> String {
    guard case .file(let place) = try OutputPlace(name) else {
      throw Complaint(.cannotCreate, "cannot write \(name): it is no regular file, and would be replaced by one")
    }
    return place
  }

  /// The name in a symbolic link; nil for anything else.
  private static func target(of link: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = bytes.withUnsafeMutableBytes {
      readlink(link, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    guard length > 0 else { return nil }
    let target = String(decoding: bytes[..<length], as: UTF8.self)
    guard !target.hasPrefix("/"), let slash = link.lastIndex(of: "/") else { return target }
    return link[...slash] + target
  }

  /// Opens a stream for writing. A FIFO without a reader is an error, because waiting for a reader might never end.
  static func open(stream name: String) throws -> Int32 {
    let descriptor = Glibc.open(name, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      let reason = errno == ENXIO ? "nobody reads it" : String(cString: strerror(errno))
      throw Complaint(.cannotCreate, "cannot write \(name): \(reason)")
    }
    _ = fcntl(descriptor, F_SETFL, O_APPEND)
    return descriptor
  }
}
