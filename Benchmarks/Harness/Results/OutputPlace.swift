import Glibc

/// Where an output goes that the user has named: a rename would replace a device, a FIFO or a symbolic link by a file.
package enum OutputPlace: Hashable, Sendable {
  /// A file, or nothing yet, by the name behind all symbolic links: written beside it and renamed.
  case file(String)
  /// A device, FIFO or socket, or what is open already: only ever written to.
  case stream(String)

  /// Throws one line when it is a folder, or links that lead nowhere.
  package init(_ name: String) throws {
    var place = name
    // As many as the kernel follows.
    for _ in 0..<40 {
      var status = stat()
      if stat(place, &status) == 0 {
        guard status.st_mode & S_IFMT != S_IFDIR else {
          throw Complaint(.cannotCreate, "cannot write \(name): it is a folder")
        }
        // Who has the file open that a link of these folders stands for would go on with the replaced one.
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

  /// The name of a file that can be renamed into its place; throws one line when there is something else.
  package static func regularFile(_ name: String) throws -> String {
    guard case .file(let place) = try OutputPlace(name) else {
      throw Complaint(.cannotCreate, "cannot write \(name): it is no regular file, and would be replaced by one")
    }
    return place
  }

  /// What a symbolic link names; nil for anything else.
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

  /// Opens a stream to write to. A FIFO that nobody reads is an error, not a reason to wait.
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
