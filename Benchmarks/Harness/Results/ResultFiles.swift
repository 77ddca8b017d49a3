import Glibc

/// `X.csv` and `X.env.json`. Both files are written beside their places as `….partial` and renamed when they are
/// complete, so that earlier results are never half overwritten. Only one program at a time may write the files. A
/// finished result is replaced only when the user asks for that. After a run was killed, `--resume` goes on with the
/// unfinished files; a run without `--resume` starts over.
package final class ResultFiles {
  private let csv: String
  /// The name of the CSV with symbolic links resolved.
  private let place: String
  private let environment: String
  private var descriptor: Int32

  /// The suffix of the names of unfinished files.
  package static let unfinished = ".partial"

  /// Opens the file for writing, and begins the file with the rows that an earlier run has left. Throws when the place
  /// cannot be written, when another program is writing there, and when a finished result is there that must not be
  /// replaced.
  /// - Parameter advice: what the user could do about a finished result.
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
    // The file has a third name until the earlier rows are in the file, so that the rows are not lost when the disk is
    // full.
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

  /// Writes the environment of the run so far beside its rows, for `--resume` in case the run is killed.
  package func checkpoint(environment json: String) throws {
    try Self.replace(environment + Self.unfinished, with: json)
  }

  /// The name of the file with the rows of an unfinished run.
  package static func unfinished(csv: String) throws -> String { try OutputPlace.regularFile(csv) + unfinished }

  /// The name of the file with the environment of an unfinished run.
  package static func unfinished(environmentOf csv: String) throws -> String {
    try OutputPlace.regularFile(RunRecord.path(csv: csv)) + unfinished
  }

  /// Writes a whole file, or leaves the old file as it was. A device or a FIFO is written to directly.
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

  /// Throws when the file could not be written whole. The check comes before the work whose result the file is to hold.
  /// - Parameter isRead: whether the file is read first. A device or a FIFO cannot be read first.
  package static func checkWritable(_ name: String, isRead: Bool = false) throws {
    let place: String
    switch try OutputPlace(name) {
    case .file(let file): place = file
    case .stream(let stream):
      if isRead { _ = try OutputPlace.regularFile(name) }
      // The stream is opened only when there is something to write, because a reader takes the end of the first writer
      // for the end of the stream.
      guard access(stream, W_OK) == 0 else { throw complaint(.cannotCreate, name) }
      return
    }
    let fresh = place + ".new"
    let file = open(fresh, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw complaint(.cannotCreate, name) }
    close(file)
    unlink(fresh)
  }

  /// Renames both files to their final names.
  package func publish(environment json: String) throws {
    guard fsync(descriptor) == 0 else { throw Self.complaint(.inputOutput, csv) }
    try checkpoint(environment: json)
    for name in [environment, place] {
      guard rename(name + Self.unfinished, name) == 0 else { throw Self.complaint(.inputOutput, name) }
    }
    // The descriptor is closed last, because the close lets other programs write there.
    close(descriptor)
    descriptor = -1
  }

  /// Removes the unfinished files, so that everything is as it was before.
  package func discard() {
    unlink(place + Self.unfinished)
    unlink(environment + Self.unfinished)
    close(descriptor)
    descriptor = -1
  }

  /// Writes all of a text; throws when the text cannot be written.
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
