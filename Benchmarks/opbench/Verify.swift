import ArgumentParser
import FoundationEssentials
import Glibc
import HarnessComparing
import HarnessMeasuring
import HarnessWords
import Laboratory

/// `opbench verify`: checks a published campaign.
struct Verify: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check a published campaign: its checksums, its environments, and its tables by its rows.",
    discussion: """
      An archive is a folder, or one that tar has packed: rows, their environments with the seed and the versions of every peer, \
      tables, figures, and one MANIFEST with a checksum for each file, and for each table the command that makes it. Pages (.md) \
      are no part of it. What is wrong is a line for each.

      Exit code 0: the archive is whole, and its tables are what its rows say. 65: it is not. 66: there is no such archive. 69: \
      tar, gzip or sha256sum is not installed. 73: the manifest cannot be written there.
      """)

  @Argument(help: "A folder, or a file of tar.", completion: .file())
  var archive: String

  @Flag(help: "Make the tables and the manifest of a folder, of what is there now.")
  var write = false

  func run() throws {
    var status = stat()
    guard stat(archive, &status) == 0 else { throw Complaint(.noInput, "there is no archive \(archive)") }
    guard status.st_mode & S_IFMT != S_IFDIR else { return try runInside(archive) }
    guard !write else { throw Complaint(.usage, "--write is for a folder; tar -czf packs it afterwards") }
    let folder = FileManager.default.temporaryDirectory.path + "/opbench-verify-\(UUID().uuidString)"
    guard mkdir(folder, 0o700) == 0 else {
      throw Complaint(.cannotCreate, "cannot make the folder \(folder): \(String(cString: strerror(errno)))")
    }
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let outcome = ProcessRunner.run("tar", ["-xf", archive, "-C", folder], timeout: 3_600)
    if case .notStarted = outcome.ending { throw Complaint(.unavailable, "tar \(outcome.ending.description)") }
    guard outcome.ending == .exited(0) else {
      throw Complaint(.badInput, "\(archive) is no folder, and no file of tar")
    }
    // A folder is packed with its name, or without.
    let contents = try FileManager.default.contentsOfDirectory(atPath: folder)
    try runInside(contents.count == 1 ? "\(folder)/\(contents[0])" : folder)
  }

  private func runInside(_ folder: String) throws {
    guard chdir(folder) == 0 else { throw Complaint(.noInput, "\(archive): \(String(cString: strerror(errno)))") }
    let archive = Archive(self.archive)
    if write {
      try archive.write()
    } else {
      let mistakes = try archive.mistakes()
      for mistake in mistakes.dropLast() { Progress().say("\(self.archive): \(mistake)") }
      if let last = mistakes.last { throw Complaint(.badInput, "\(self.archive): \(last)") }
    }
    try DescriptorOutput.write(try archive.summary(), to: STDOUT_FILENO, name: "standard output")
  }
}
