import FoundationEssentials
import Glibc
import LaboratorySupport
import Testing

@testable import HarnessResults
@testable import HarnessRunning
@testable import HarnessWords

/// An output never replaces what is no regular file. All in folders of the tests' own.
struct OutputPlaceTests {
  let folder = TemporaryFolder()

  private func kind(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// A FIFO, and where this user may make one the twin of /dev/full.
  private func special(_ folder: TemporaryFolder, _ name: String) -> [String] {
    let fifo = "\(folder.path)/fifo-\(name)"
    let device = "\(folder.path)/device-\(name)"
    #expect(mkfifo(fifo, 0o600) == 0)
    return mknod(device, S_IFCHR | 0o600, 1 << 8 | 7) == 0 ? [fifo, device] : [fifo]
  }

  @Test func linksAreFollowed() throws {
    _ = folder.write("earlier", to: "target.csv")
    for (link, target) in [
      ("a.csv", "b.csv"), ("b.csv", "\(folder.path)/target.csv"), ("t.json", "trace.json"), ("r.md", "report.md"),
    ] { #expect(symlink(target, "\(folder.path)/\(link)") == 0) }
    let files = try ResultFiles.begun(csv: "\(folder.path)/a.csv", mayReplace: true)
    #expect(folder.contents.contains("target.csv.partial") && folder.read("target.csv") == "earlier")
    try files.publish(environment: "{}")
    #expect(folder.read("target.csv") == CSV.line(CSV.header) && folder.read("a.env.json") == "{}")
    let trace = try TraceOutput("\(folder.path)/t.json")
    try trace.publish([:])
    #expect(folder.read("trace.json")?.hasPrefix("{") == true)
    // One that leads to nothing yet.
    try ResultFiles.checkWritable("\(folder.path)/r.md")
    try ResultFiles.replace("\(folder.path)/r.md", with: "report")
    #expect(folder.read("report.md") == "report")
    for link in ["a.csv", "b.csv", "t.json", "r.md"] { #expect(kind("\(folder.path)/\(link)") == S_IFLNK) }
    #expect(
      folder.contents == ["a.csv", "a.env.json", "b.csv", "r.md", "report.md", "t.json", "target.csv", "trace.json"])
  }

  @Test func whatIsNoRegularFileIsRefusedByResultsAndTraces() throws {
    let refused: (any Error) -> Bool = {
      ($0 as? Complaint)?.code == .cannotCreate && "\($0)".contains("no regular file")
    }
    for csv in special(folder, "a.csv") { #expect { try ResultFiles(csv: csv) } throws: { refused($0) } }
    for json in special(folder, "t.json") {
      #expect { try TraceOutput(json) } throws: { refused($0) }
      #expect { try ResultFiles.checkWritable(json, isRead: true) } throws: { refused($0) }
      #expect(symlink(json, "\(folder.path)/link.csv") == 0)
      #expect { try ResultFiles(csv: "\(folder.path)/link.csv") } throws: { refused($0) }
      unlink("\(folder.path)/link.csv")
    }
    #expect(folder.contents.allSatisfy { [S_IFIFO, S_IFCHR].contains(kind("\(folder.path)/\($0)")) })
  }

  @Test func reportsAreWrittenToWhatIsNoRegularFile() throws {
    let fifo = special(folder, "r.md")[0]
    #expect { try ResultFiles.replace(fifo, with: "lost") } throws: { "\($0)".contains("nobody reads it") }
    let reader = open(fifo, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    try ResultFiles.checkWritable(fifo)
    try ResultFiles.replace(fifo, with: "report")
    var bytes = [UInt8](repeating: 0, count: 16)
    #expect(read(reader, &bytes, bytes.count) == 6 && bytes.starts(with: Array("report".utf8)))
    // A file that somebody has open, such as a redirected standard output, is gone on with.
    let file = open(folder.write("before ", to: "open.txt"), O_WRONLY | O_APPEND)
    defer { close(file) }
    try ResultFiles.replace("/proc/self/fd/\(file)", with: "report")
    #expect(folder.read("open.txt") == "before report")
    #expect(kind(fifo) == S_IFIFO)
    // The device says that it is full, and stays.
    for device in special(folder, "s.md").dropFirst() {
      let outcome = Result { try ResultFiles.replace(device, with: "report") }
      if case .success = outcome { Issue.record("written to a full device") }
      #expect(kind(device) == S_IFCHR)
    }
  }

  @Test func linksInACircleAndFolders() throws {
    #expect(symlink("b.csv", "\(folder.path)/a.csv") == 0 && symlink("a.csv", "\(folder.path)/b.csv") == 0)
    #expect(mkdir("\(folder.path)/c.csv", 0o700) == 0)
    for name in ["a.csv", "c.csv"] {
      #expect { try ResultFiles(csv: "\(folder.path)/\(name)") } throws: { ($0 as? Complaint)?.code == .cannotCreate }
    }
    #expect(folder.contents == ["a.csv", "b.csv", "c.csv"])
  }
}
