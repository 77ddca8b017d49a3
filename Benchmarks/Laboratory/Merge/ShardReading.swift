import HarnessMeasuring
import HarnessWords

/// How `merge` reads the files that it is given, measured and simulated ones.
enum ShardReading {
  /// Reads each file.
  /// - Parameters:
  ///   - allowsUnreadable: whether a shard that cannot be read is said and left out: it has to run again.
  ///   - allowsNone: whether nothing may be left: the plan of the campaign says what has to run.
  static func all<File>(
    _ paths: [String], allowsUnreadable: Bool, allowsNone: Bool = false, _ progress: Progress,
    read: (_ path: String) throws -> File
  ) throws -> [File] {
    var files: [File] = []
    for path in paths {
      do {
        files.append(try read(path))
      } catch  where allowsUnreadable {
        progress.say("\((error as? Complaint)?.description ?? "\(path): \(error)")")
      }
    }
    guard allowsNone || !files.isEmpty else { throw Complaint(.badInput, "none of these files is a shard") }
    return files
  }
}
