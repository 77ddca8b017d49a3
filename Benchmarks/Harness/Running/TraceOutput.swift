import FoundationEssentials
import Glibc
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// The file of `--trace`, in Chrome's trace format. The file is put together from the pieces of the traced processes
/// beside its place, and renamed when the file is complete.
package final class TraceOutput {
  package let path: String
  /// The name of the file with symbolic links resolved.
  private let place: String
  private var descriptor: Int32
  /// The number of pieces, and what the pieces hold.
  package private(set) var pieces = 0
  private var places: [String] = []
  package private(set) var operations = 0
  package private(set) var notShown = 0

  /// Opens the file; throws when the place cannot be written.
  package init(_ path: String) throws {
    guard path.hasSuffix(".json"), !path.hasSuffix("/.json"), path != ".json" else {
      throw Complaint(.usage, "--trace takes the name of a file that ends in .json, not '\(path)'")
    }
    self.path = path
    place = try OutputPlace.regularFile(path)
    descriptor = try UnfinishedFile.open(place + ResultFiles.unfinished, of: path)
    guard FileCall.truncate(descriptor) == 0 else { throw complaint(.cannotCreate) }
    try append("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")
  }

  deinit { if descriptor >= 0 { discard() } }

  /// The file to which a process writes its piece.
  package func piece(_ process: Int32) -> String {
    let place = "\(self.place)\(ResultFiles.unfinished).\(process)"
    places.append(place)
    return place
  }

  /// Adds a piece to the file.
  package func add(_ request: TraceRequest, operations: Int, notShown: Int) throws {
    defer { FileCall.unlink(request.file) }
    guard let text = FileManager.default.contents(atPath: request.file) else {
      throw Complaint(.inputOutput, "cannot read \(request.file), which a traced process has written")
    }
    if pieces > 0 { try append(",\n") }
    try append(String(decoding: text, as: UTF8.self))
    pieces += 1
    self.operations += operations
    self.notShown += notShown
  }

  /// Renames the file to its final name.
  /// - Parameter facts: facts of the run for the reader of the trace.
  package func publish(_ facts: [String: String]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    try append("\n],\"otherData\":\(String(decoding: try encoder.encode(facts), as: UTF8.self))}\n")
    removePieces()
    guard FileCall.sync(descriptor) == 0, FileCall.rename(place + ResultFiles.unfinished, to: place) == 0 else {
      throw complaint(.inputOutput)
    }
    close(descriptor)
    descriptor = -1
  }

  /// Removes the unfinished file and the pieces, so that everything is as it was before.
  package func discard() {
    FileCall.unlink(place + ResultFiles.unfinished)
    removePieces()
    close(descriptor)
    descriptor = -1
  }

  /// Removes the pieces of processes that failed. Such a process may have died while the process wrote its piece.
  private func removePieces() {
    for place in places {
      FileCall.unlink(place)
      FileCall.unlink(place + ResultFiles.unfinished)
    }
  }

  private func append(_ text: String) throws {
    try DescriptorOutput.write(text, to: descriptor, name: path, FileCall.write)
  }

  private func complaint(_ code: Complaint.Code) -> Complaint {
    Complaint(code, "cannot write \(path): \(String(cString: strerror(errno)))")
  }
}
