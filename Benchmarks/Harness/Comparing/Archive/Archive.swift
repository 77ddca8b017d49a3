import FoundationEssentials
import Glibc
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// A published campaign: rows with their environments, tables and figures, and one manifest. `opbench` works in the
/// folder of the archive, so that the manifest's paths are those of its commands.
package struct Archive {
  /// The archive as the user has named it, for messages.
  private let name: String
  /// What prints a table, given the words behind `opbench`.
  private let program: String

  package init(_ name: String, program: String = ProcessRunner.thisProgram) {
    (self.name, self.program) = (name, program)
  }

  /// Pages are text about the campaign. They are no part of the archive: who writes them changes no result.
  private static let page = ".md"

  /// What is wrong, a line for each; none when the archive is whole.
  package func mistakes() throws -> [String] {
    guard let bytes = FileManager.default.contents(atPath: ArchiveManifest.name) else {
      let advice = "\(ProgramName.own) verify --write makes one"
      throw Complaint(.badInput, "\(name): there is no \(ArchiveManifest.name) in it; \(advice)")
    }
    let manifest = try ArchiveManifest(String(decoding: bytes, as: UTF8.self), of: name)
    let wrong = try filesThatDiffer(manifest)
    guard wrong.isEmpty else { return wrong }
    return try resultMistakes(manifest) + tableMistakes(manifest)
  }

  /// Makes the tables and the manifest. The tables are those of the manifest that is there. Without one, each result
  /// that `compare` can compare gets a table under a free name.
  package func write() throws {
    var manifest = ArchiveManifest()
    let results = try files().filter(Self.isResult)
    guard !results.isEmpty else { throw Complaint(.badInput, "\(name): there is no result in it, such as X.csv.gz") }
    if let earlier = FileManager.default.contents(atPath: ArchiveManifest.name) {
      manifest.tables = try ArchiveManifest(String(decoding: earlier, as: UTF8.self), of: name).tables
    } else {
      manifest.tables = results.map(Self.table).filter { access($0.file, F_OK) != 0 && (try? made($0)) != nil }
    }
    manifest.files = try checksums(of: try files())
    if let wrong = try resultMistakes(manifest).first { throw Complaint(.badInput, "\(name): \(wrong)") }
    for table in manifest.tables { try ResultFiles.replace(table.file, with: try made(table)) }
    manifest.files.merge(try checksums(of: manifest.tables.map(\.file))) { $1 }
    try ResultFiles.replace(ArchiveManifest.name, with: manifest.text)
  }

  /// `X.txt`, the comparison of `X.csv.gz`.
  private static func table(of result: String) -> ArchiveManifest.Table {
    let stem = RunRecord.path(csv: result).dropLast(".env.json".count)
    return ArchiveManifest.Table(file: "\(stem).txt", command: ["compare", result])
  }

  /// What the archive holds, in words: a line for each result, and one for all.
  package func summary() throws -> String {
    let files = try files()
    let results = files.filter(Self.isResult)
    let lines = try results.map { result -> String in
      guard let record = try RunRecord.read(path: RunRecord.path(csv: result)) else { return result }
      let words = [
        "seed \(record.seed)", record.commit.map { "commit \($0.prefix(7))" },
        record.startedAt.map { "\($0.prefix(10))" },
      ].compactMap(\.self).joined(separator: ", ")
      return "\(result): " + [words + ".", record.peersSentence].compactMap(\.self).joined(separator: " ")
    }
    let all =
      "\(name): \(Count.of(files.count, "file")) as \(ArchiveManifest.name) says, \(Count.of(results.count, "result")) with "
      + "environments, tables as the rows say"
    return (lines + [all]).map { $0 + "\n" }.joined()
  }
}

// MARK: - Files

extension Archive {
  /// The files of the archive, without its manifest and its pages.
  private func files() throws -> [String] {
    let all = try FileManager.default.subpathsOfDirectory(atPath: ".").sorted()
    return try all.filter { path in
      var status = stat()
      guard lstat(path, &status) == 0 else { return false }
      if status.st_mode & S_IFMT == S_IFDIR || path == ArchiveManifest.name || path.hasSuffix(Self.page) {
        return false
      }
      // sha256sum would write these names in another form.
      guard status.st_mode & S_IFMT == S_IFREG, !path.contains(where: { $0.isNewline || $0 == "\\" }) else {
        throw Complaint(.badInput, "\(name): \(path) is no plain file with a plain name")
      }
      return true
    }
  }

  private func filesThatDiffer(_ manifest: ArchiveManifest) throws -> [String] {
    let listed = Set(manifest.files.keys)
    let present = Set(try files())
    let here = try checksums(of: present.intersection(listed).sorted())
    return listed.subtracting(present).sorted().map { "\($0) is missing" }
      + present.subtracting(listed).sorted().map { "\($0) is in no line of its \(ArchiveManifest.name)" }
      + here.filter { manifest.files[$0.key] != $0.value }.keys.sorted().map {
        "\($0) was changed: it has another checksum than in its \(ArchiveManifest.name)"
      }
  }

  private func checksums(of paths: [String]) throws -> [String: String] {
    var sums: [String: String] = [:]
    for start in stride(from: 0, to: paths.count, by: 500) {
      let some = paths[start..<min(start + 500, paths.count)]
      let outcome = ProcessRunner.run("sha256sum", ["--"] + some, timeout: 3_600)
      guard outcome.ending == .exited(0), outcome.lines.count == some.count else {
        throw Complaint(.unavailable, "no checksums: sha256sum \(outcome.ending.description)")
      }
      for (path, line) in zip(some, outcome.lines) { sums[path] = String(line.prefix(64)) }
    }
    return sums
  }
}

// MARK: - Results, figures and tables

extension Archive {
  private static func isResult(_ path: String) -> Bool { path.hasSuffix(".csv") || path.hasSuffix(".csv.gz") }

  /// Rows that cannot be read, that have no environment or lack the version of a peer, and figures of other rows.
  private func resultMistakes(_ manifest: ArchiveManifest) throws -> [String] {
    let results = manifest.files.keys.filter(Self.isResult).sorted()
    var wrong = try results.compactMap(Self.mistake)
    let rows = Set(results.compactMap { manifest.files[$0] })
    for figure in manifest.files.keys.filter({ $0.hasSuffix(".svg") }).sorted() {
      let text = String(decoding: try ResultSet.bytes(figure), as: UTF8.self)
      let named = text.matches(of: /sha256:([0-9a-f]{64})/).map { String($0.output.1) }
      if named.isEmpty { wrong.append("\(figure) does not say of which rows it is") }
      if named.contains(where: { !rows.contains($0) }) { wrong.append("\(figure) is of other rows than those in it") }
    }
    return wrong
  }

  private static func mistake(in result: String) throws -> String? {
    do {
      guard let record = try record(of: result) else { return "\(result) has no environment beside it" }
      let peers = record.subjects.filter { $0.role == .peer }.map(\.name)
      let taken = Set(record.cells.map { String($0.arm.subject.prefix { $0 != "(" }) })
      let known = Set(record.peers.keys.map { String($0.prefix { $0 != "(" }) })
      guard let peer = peers.first(where: { taken.contains($0) && !known.contains($0) }) else { return nil }
      return "\(RunRecord.path(csv: result)) does not have the version of \(peer)"
    } catch let complaint as Complaint {
      return complaint.description
    }
  }

  /// The environment of a result, whose rows are read.
  private static func record(of result: String) throws -> RunRecord? {
    try SimulatedFile.isSimulated(result) ? SimulatedFile(path: result).record : ResultSet.read(path: result).record
  }

  private func tableMistakes(_ manifest: ArchiveManifest) -> [String] {
    manifest.tables.compactMap { table in
      do {
        let text = try made(table)
        let there = FileManager.default.contents(atPath: table.file)
        guard there != Data(text.utf8) else { return nil }
        return "\(table.file) is not what its rows say: \(table.command.joined(separator: " ")) gives another text"
      } catch {
        return "\(error)"
      }
    }
  }

  /// The text of a table. A limit that is missed (70) is part of what it says.
  private func made(_ table: ArchiveManifest.Table) throws -> String {
    let (outcome, output) = ProcessRunner.capture(program, table.command, timeout: 3_600)
    guard outcome.ending == .exited(0) || outcome.ending == .exited(Complaint.Code.software.rawValue), !output.isEmpty
    else {
      let words = outcome.lastWords ?? outcome.ending.description
      throw Complaint(.badInput, "\(table.file) cannot be made again: \(words)")
    }
    return String(decoding: output, as: UTF8.self)
  }
}
