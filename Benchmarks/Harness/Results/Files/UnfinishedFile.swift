import Glibc
import HarnessWords

/// An output that is being written, as `….partial` beside its place. Only one program at a time writes an output.
package enum UnfinishedFile {
  /// Opens the file for this program alone and leaves its content as it is. The lock lasts until the descriptor is
  /// closed, also when the file has been renamed by then.
  package static func open(_ name: String, of output: String) throws -> Int32 {
    while true {
      let descriptor = FileCall.open(name, O_RDWR | O_CREAT)
      guard descriptor >= 0 else {
        throw Complaint(.cannotCreate, "cannot write \(output): \(String(cString: strerror(errno)))")
      }
      // A file system without locks must not prevent writing.
      if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
        close(descriptor)
        throw Complaint(
          .cannotCreate, "another run is writing \(output): wait for its end, or name another file")
      }
      // Between the two calls, the program that wrote before may have renamed the file to its final name.
      if isCalled(name, descriptor) { return descriptor }
      close(descriptor)
    }
  }

  /// Whether the open file still has that name.
  package static func isCalled(_ name: String, _ descriptor: Int32) -> Bool {
    var own = stat()
    var named = stat()
    return fstat(descriptor, &own) == 0 && stat(name, &named) == 0 && own.st_ino == named.st_ino
      && own.st_dev == named.st_dev
  }

  package static func isEmpty(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_size == 0
  }
}
