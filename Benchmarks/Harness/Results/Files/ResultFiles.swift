import Glibc
import HarnessWords

/// `X.csv` and `X.env.json`. Both files are written beside their places as `….partial` and renamed when they are
/// complete, so that earlier results are never half overwritten. Only one program at a time may write the files. A
/// finished result is replaced only when the user asks for that. After a run was killed, `--resume` goes on with the
/// unfinished files; a run without `--resume` starts over.
///
/// A kill between any two calls leaves files that `EarlierRun` can go on with. Of the two files, the environment always
/// comes first: its `run_id` says which rows belong to it.
package final class ResultFiles {
  private let csv: String
  private let header: String
  /// The name of the CSV with symbolic links resolved.
  private let place: String
  private let environment: String
  /// The unfinished CSV, which is locked: what an earlier run has left, until the run begins.
  private var descriptor: Int32
  /// The bytes that are in the unfinished CSV.
  private var length: off_t = 0
  private var hasBegun = false
  /// Whether the unfinished CSV has only what this run has written to say that a run begins.
  private var isMarked = false

  /// The suffix of the names of unfinished files.
  package static let unfinished = ".partial"
  /// The suffix of the names of files that are written whole, and then renamed.
  private static let fresh = ".new"

  /// Locks the file, and leaves everything as it is until the run begins. Throws when the place cannot be written, when
  /// another program is writing there, and when a finished result is there that must not be replaced.
  /// - Parameters:
  ///   - header: the columns.
  ///   - goesOn: whether the run goes on with what an earlier run has left.
  ///   - advice: what the user could do about a finished result.
  package init(
    csv: String, header: [String] = CSV.header, mayReplace: Bool = false, goesOn: Bool = false,
    advice: String = "--overwrite replaces it"
  ) throws {
    guard csv.hasSuffix(".csv"), !csv.hasSuffix("/.csv"), csv != ".csv" else {
      throw Complaint(.usage, "--output takes the name of a file that ends in .csv, not '\(csv)'")
    }
    self.csv = csv
    self.header = CSV.line(header)
    place = try OutputPlace.regularFile(csv)
    environment = try OutputPlace.regularFile(RunRecord.path(csv: csv))
    descriptor = try UnfinishedFile.open(place + Self.unfinished, of: csv)
    guard mayReplace || access(place, F_OK) != 0 else {
      throw Complaint(.cannotCreate, "\(csv) holds a finished result: \(advice)")
    }
    // A header without an environment says that a new run begins. Should it be killed now, `--resume` does not go on
    // with the finished result that the run is to replace.
    if !goesOn, UnfinishedFile.isEmpty(descriptor) {
      isMarked = true
      try append(self.header)
    }
  }

  deinit {
    if descriptor >= 0, !hasBegun { discard() }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Replaces what an earlier run has left: writes the environment of the run, and beside it the lines of the rows that
  /// the run goes on with.
  package func begin(environment json: String, keeping lines: String = "") throws {
    // With the environment of another run, rows that are left are nobody's. Rows without any environment could be.
    try checkpoint(environment: json)
    // The CSV has a third name until the rows are in it, so that they are not lost when the disk is full.
    let partial = place + Self.unfinished
    let fresh = partial + Self.fresh
    let file = try UnfinishedFile.open(fresh, of: csv)
    do {
      guard FileCall.truncate(file) == 0 else { throw Self.complaint(.cannotCreate, csv) }
      let text = header + lines
      try DescriptorOutput.write(text, to: file, name: csv, FileCall.write)
      length = off_t(text.utf8.count)
      guard FileCall.rename(fresh, to: partial) == 0 else { throw Self.complaint(.cannotCreate, csv) }
    } catch {
      FileCall.unlink(fresh)
      close(file)
      throw error
    }
    close(descriptor)
    descriptor = file
    hasBegun = true
    // What a shard that was killed has left of its last publication.
    for name in [environment, place] { FileCall.unlink(name + Self.fresh) }
  }

  /// Adds rows to the file, all or none. Their first byte is written last. Should the program be killed before, a zero
  /// byte stands there, and readers of the unfinished file stop at it.
  package func append(_ text: String) throws {
    var text = text
    try text.withUTF8 { bytes in
      guard !bytes.isEmpty else { return }
      for (range, place) in [(1..<bytes.count, length + 1), (0..<1, length)] {
        lseek(descriptor, place, SEEK_SET)
        try DescriptorOutput.write(
          UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[range]), to: descriptor, name: csv,
          FileCall.write)
      }
      length += off_t(bytes.count)
    }
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
  /// - Parameter syncs: whether the content is on the disk before the file has its name.
  package static func replace(_ name: String, with text: String, syncs: Bool = false) throws {
    let place: String
    switch try OutputPlace(name) {
    case .file(let file): place = file
    case .stream(let stream):
      let descriptor = try OutputPlace.open(stream: stream)
      defer { close(descriptor) }
      return try DescriptorOutput.write(text, to: descriptor, name: name)
    }
    let fresh = place + Self.fresh
    let file = FileCall.open(fresh, O_WRONLY | O_CREAT | O_TRUNC)
    guard file >= 0 else { throw complaint(.cannotCreate, name) }
    do {
      defer { close(file) }
      try DescriptorOutput.write(text, to: file, name: name, FileCall.write)
      if syncs { guard FileCall.sync(file) == 0 else { throw complaint(.inputOutput, name) } }
    } catch {
      FileCall.unlink(fresh)
      throw error
    }
    guard FileCall.rename(fresh, to: place) == 0 else {
      let failure = complaint(.inputOutput, name)
      FileCall.unlink(fresh)
      throw failure
    }
  }

  /// Throws when the file is there and may not be replaced, and when it could not be written whole.
  /// - Parameter holding: what to say of a file that is there, such as "holds a finished result".
  package static func checkPlace(_ name: String, mayReplace: Bool, holding: String) throws {
    guard mayReplace || access(name, F_OK) != 0 else {
      throw Complaint(.cannotCreate, "\(name) \(holding): --overwrite replaces it")
    }
    try checkWritable(name)
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

  /// Puts finished rows in place while the run goes on: the environment first, each file by a rename. The unfinished
  /// files stay as they are. Throws one line when another program has taken the unfinished file over, as happens on a
  /// file system without locks: what that program publishes is newer.
  package func publish(finished lines: String, environment json: String) throws {
    guard UnfinishedFile.isCalled(place + Self.unfinished, descriptor) else {
      throw Complaint(
        .cannotCreate, "another run has taken \(csv) over: this one stops, and what it had published stays")
    }
    try Self.replace(environment, with: json, syncs: true)
    try Self.replace(place, with: header + lines, syncs: true)
  }

  /// Renames both files to their final names.
  package func publish(environment json: String) throws {
    guard FileCall.sync(descriptor) == 0 else { throw Self.complaint(.inputOutput, csv) }
    try Self.replace(environment + Self.unfinished, with: json, syncs: true)
    // The environment comes first. Should the program be killed now, the rows still have their unfinished name, and
    // `run_id` shows that an older CSV is not of this environment.
    for name in [environment, place] {
      guard FileCall.rename(name + Self.unfinished, to: name) == 0 else { throw Self.complaint(.inputOutput, name) }
    }
    // The descriptor is closed last, because the close lets other programs write there.
    close(descriptor)
    descriptor = -1
  }

  /// Removes the unfinished files of this run, so that everything is as it was before. A run that has not begun has
  /// none.
  package func discard() {
    if hasBegun {
      // The environment comes first here too: rows without an environment are nobody's.
      FileCall.unlink(environment + Self.unfinished)
      FileCall.unlink(place + Self.unfinished)
    } else if isMarked || UnfinishedFile.isEmpty(descriptor) {
      FileCall.unlink(place + Self.unfinished)
    }
    close(descriptor)
    descriptor = -1
  }

  private static func complaint(_ code: Complaint.Code, _ name: String) -> Complaint {
    Complaint(code, "cannot write \(name): \(String(cString: strerror(errno)))")
  }
}
