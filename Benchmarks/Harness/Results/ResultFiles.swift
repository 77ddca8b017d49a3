import Glibc

/// `X.csv` and `X.env.json`, written beside their places as `….partial` and renamed when they are complete, so that
/// earlier results are never half overwritten; one program at a time, and over a finished result only when told to. What a run that was killed leaves there is what `--resume` goes on
/// with; a run without it starts over.
package final class ResultFiles {
  private let csv: String
  /// Behind symbolic links.
  private let place: String
  private let environment: String
  private var descriptor: Int32

  /// What unfinished files are called beyond their names.
  package static let unfinished = ".partial"

  /// Opens the file to write to, and begins it with rows that an earlier run has left; throws when the place cannot
  /// be written, when another program is writing there, and when a finished result lies there that is not to be
  /// replaced.
  /// - Parameter advice: what could be done about a finished result.
  package init(
    csv: String, keeping rows: [Row] = [], mayReplace: Bool = false, advice: String = "--overwrite replaces it"
  ) throws {
    guard csv.hasSuffix(".csv"), !csv.hasSuffix("/.csv"), csv != ".csv" else {
      throw Complaint(.usage, "--output takes the name of a file that ends in .csv, not '\(csv)'")
    }
    self.csv = csv
    place = try OutputPlace.regularFile(csv)
    environment = try OutputPlace.regularFile(RunRecord.path(csv: csv))
    let partial = place + Self.unfinished
    let earlier = try UnfinishedFile.open(partial, of: csv)
    defer { close(earlier) }
    descriptor = -1
    // Under a third name until the earlier rows are in it, so that they are not lost when the disk is full.
    let fresh = partial + ".new"
    do {
      guard mayReplace || access(place, F_OK) != 0 else {
        throw Complaint(.cannotCreate, "\(csv) holds a finished result: \(advice)")
      }
      descriptor = try UnfinishedFile.open(fresh, of: csv)
      guard ftruncate(descriptor, 0) == 0 else { throw Self.complaint(.cannotCreate, csv) }
      try append(CSV.line(CSV.header) + rows.map(CSV.line).joined())
      guard rename(fresh, partial) == 0 else { throw Self.complaint(.cannotCreate, csv) }
    } catch {
      if descriptor >= 0 { unlink(fresh) }
      UnfinishedFile.removeIfEmpty(partial, earlier)
      throw error
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  package func append(_ text: String) throws {
    try Self.write(text, to: descriptor, name: csv)
  }

  /// Keeps the environment of the run so far beside its rows, for `--resume` should the run be killed.
  package func checkpoint(environment json: String) throws {
    try Self.replace(environment + Self.unfinished, with: json)
  }

  /// Where the rows of an unfinished run lie.
  package static func unfinished(csv: String) throws -> String { try OutputPlace.regularFile(csv) + unfinished }

  /// Where its environment lies.
  package static func unfinished(environmentOf csv: String) throws -> String {
    try OutputPlace.regularFile(RunRecord.path(csv: csv)) + unfinished
  }

  /// Writes a whole file, or leaves it as it was. A device or a FIFO is written to.
  package static func replace(_ name: String, with text: String) throws {
    let place: String
    switch try OutputPlace(name) {
    case .file(let file): place = file
    case .stream(let stream):
      let descriptor = try OutputPlace.open(stream: stream)
      defer { close(descriptor) }
      return try write(text, to: descriptor, name: name)
    }
    let fresh = place + ".new"
    let file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw complaint(.cannotCreate, name) }
    do {
      defer { close(file) }
      try write(text, to: file, name: name)
    } catch {
      unlink(fresh)
      throw error
    }
    guard rename(fresh, place) == 0 else {
      let failure = complaint(.inputOutput, name)
      unlink(fresh)
      throw failure
    }
  }

  /// Throws when a file could not be written whole, before the work whose result it is to hold.
  /// - Parameter isRead: whether it is read first, as a device or a FIFO cannot be.
  package static func checkWritable(_ name: String, isRead: Bool = false) throws {
    let place: String
    switch try OutputPlace(name) {
    case .file(let file): place = file
    case .stream(let stream):
      if isRead { _ = try OutputPlace.regularFile(name) }
      // Opened only when there is something to write: a reader takes the end of the first writer for the end.
      guard access(stream, W_OK) == 0 else { throw complaint(.cannotCreate, name) }
      return
    }
    let fresh = place + ".new"
    let file = open(fresh, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw complaint(.cannotCreate, name) }
    close(file)
    unlink(fresh)
  }

  /// Puts both files in their places.
  package func publish(environment json: String) throws {
    guard fsync(descriptor) == 0 else { throw Self.complaint(.inputOutput, csv) }
    try checkpoint(environment: json)
    for name in [environment, place] {
      guard rename(name + Self.unfinished, name) == 0 else { throw Self.complaint(.inputOutput, name) }
    }
    // Last, because it lets others write there.
    close(descriptor)
    descriptor = -1
  }

  /// Leaves everything as it was before.
  package func discard() {
    unlink(place + Self.unfinished)
    unlink(environment + Self.unfinished)
    close(descriptor)
    descriptor = -1
  }

  /// Writes all of a text, and says so when it cannot.
  package static func write(_ text: String, to descriptor: Int32, name: String) throws {
    var text = text
    try text.withUTF8 { bytes in
      var written = 0
      while written < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { throw complaint(.inputOutput, name) }
        written += count
      }
    }
  }

  private static func complaint(_ code: Complaint.Code, _ name: String) -> Complaint {
    Complaint(code, "cannot write \(name): \(String(cString: strerror(errno)))")
  }
}
