import Harness

/// How `merge` reads the files that it is given, measured and simulated ones.
enum ShardReading {
  /// Reads each file.
  /// - Parameter allowsUnreadable: whether a shard that cannot be read is said and left out: it has to run again.
  static func all<File>(
    _ paths: [String], allowsUnreadable: Bool, _ progress: Progress, read: (_ path: String) throws -> File
  ) throws -> [File] {
    var files: [File] = []
    for path in paths {
      do {
        files.append(try read(path))
      } catch let complaint as Complaint where allowsUnreadable {
        progress.say(complaint.description)
      }
    }
    guard !files.isEmpty else { throw Complaint(.badInput, "none of these files is a shard") }
    return files
  }
}
