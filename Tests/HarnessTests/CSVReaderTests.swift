import FoundationEssentials
import LaboratorySupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessResults
@testable import HarnessWords

struct CSVReaderTests {
  /// As a spreadsheet saves a result where a comma stands in numbers.
  @Test(arguments: [(";", "semicolons"), ("\t", "tabs")])
  func otherSeparatorsAreNamed(separator: String, name: String) throws {
    let text = Sample.csv.replacing(",", with: separator)
    #expect { try CSV.rows(Array(text.utf8), source: "a.csv") } throws: { error in
      (error as? Complaint)?.description.hasPrefix("a.csv, line 1: \(name) stand between the columns") == true
    }
  }

  func records(_ text: String) throws -> [[String]] {
    var reader = CSVReader(Array(text.utf8), source: "a.csv")
    var records: [[String]] = []
    while let record = try reader.next() { records.append(record.fields) }
    return records
  }

  func complaint(_ text: String) -> String? {
    do {
      _ = try CSV.rows(Array(text.utf8), source: "a.csv")
      return nil
    } catch {
      #expect((error as? Complaint)?.code == .badInput)
      return "\(error)"
    }
  }

  @Test func whatRFC4180Allows() throws {
    #expect(
      try records("a,b\r\n\"c,\"\"d\"\"\",\"e\r\nf\"\n,\r\n") == [["a", "b"], ["c,\"d\"", "e\r\nf"], ["", ""]])
    #expect(try records("").isEmpty)
    for field in ["plain", "", "a,b", "say \"so\"", "two\nlines", "carriage\rreturn", "\",\"\r\n", "ümläut"] {
      #expect(try records(CSV.line([field, "next"])) == [[field, "next"]])
    }
  }

  @Test(arguments: ["a,b", "a,b\r\nc", "\"a", "\"a\r\n", "a,\"b\"", "a,b\r", "a\"b\r\n", "\"a\"b\r\n"])
  func whatItDoesNotAllow(text: String) { #expect(throws: Complaint.self) { try records(text) } }

  @Test func rowsReadBackAsTheyWere() throws {
    let found = try CSV.rows(Array(Sample.csv.utf8), source: "a.csv")
    #expect(found.count == Sample.result.count)
    for (row, expected) in zip(found, Sample.result) {
      #expect(CSV.line(row) == CSV.line(expected))
      #expect(row.parameters == expected.parameters && row.reading.value == expected.reading.value)
    }
  }

  /// Wherever a file is cut, it is noticed, unless it is cut between two rows.
  @Test func everyCutInARowIsNoticed() {
    let bytes = Array(Sample.csv.utf8)
    for end in 1..<bytes.count where bytes[end - 1] != UInt8(ascii: "\n") {
      let found = complaint(String(decoding: bytes[..<end], as: UTF8.self))
      #expect(found?.contains("a.csv, line ") == true, "cut after \(end) bytes: \(found ?? "accepted")")
    }
  }

  @Test func whatOtherProgramsPutIn() throws {
    #expect(
      complaint("\u{FEFF}" + Sample.csv)
        == "a.csv, line 1: a byte order mark stands before the header; save it as UTF-8 without one")
    let rows = Sample.csv.split(separator: "\r\n", omittingEmptySubsequences: false)
    let doubled = (rows.dropLast() + [rows[2], ""]).joined(separator: "\r\n")
    #expect(complaint(doubled) == "a.csv, line 8: the same value as in line 3, once more")
    // A difference of times, and memory that is in use afterwards.
    for (metric, unit) in [("priority_overhead_ns", "ns"), ("retained_bytes_per_op", "bytes")] {
      let row = CSV.line(["2", "r", "3", "7", "1", "f", "x", "", "stealing", "2", metric, unit, "-12.5", "10", "n1"])
      #expect(complaint(CSV.line(CSV.header) + row) == nil)
    }
  }

  @Test func rowsNameTheirMachine() throws {
    let unnamed = try CSV.rows(Array(Sample.csv.utf8), source: "a.csv")
    let named = try CSV.rows(Array(Sample.csv.replacing(",10,\r\n", with: ",10,n1\r\n").utf8), source: "a.csv")
    #expect(Set(unnamed.map(\.host)) == [""] && Set(named.map(\.host)) == ["n1"])
    #expect(ResultSet(name: "a.csv", rows: unnamed, record: nil).machines == nil)
    #expect(ResultSet(name: "a.csv", rows: named, record: nil).machines?.count == 1)
    let earlier = CSV.line(Array(CSV.header.dropLast()))
    #expect(complaint(earlier)?.contains("not a result of schema 2: it has 14 columns, not 15") == true)
  }

  @Test func theEnvironmentOfAnotherRunIsRefused() throws {
    let folder = TemporaryFolder()
    let path = folder.write(Sample.csv, to: "a.csv")
    _ = folder.write(try Sample.environment(runID: "other"), to: "a.env.json")
    #expect {
      try ResultSet.read(path: path)
    } throws: {
      ($0 as? Complaint)?.code == .badInput
        && "\($0)".hasPrefix("\(path) has rows of run r, and \(folder.path)/a.env.json is of run other: ")
    }
  }

  @Test func packedResults() throws {
    let folder = TemporaryFolder()
    let plain = folder.write(Sample.csv, to: "a.csv")
    #expect(ProcessRunner.run("gzip", ["-k", plain], timeout: 60).ending == .exited(0))
    _ = folder.write(try Sample.environment(), to: "a.env.json")
    let set = try ResultSet.read(path: "\(folder.path)/a.csv.gz")
    #expect(set.rows == (try ResultSet.read(path: plain)).rows && set.rows.count == 6 && set.record?.runID == "r")
    let cut = FileManager.default.contents(atPath: "\(folder.path)/a.csv.gz")!.dropLast(9)
    #expect(FileManager.default.createFile(atPath: "\(folder.path)/cut.csv.gz", contents: Data(cut)))
    let other = folder.write(Sample.csv, to: "b.csv.gz")
    for path in ["\(folder.path)/cut.csv.gz", other] {
      #expect(throws: Complaint(.badInput, "\(path): not a whole gzip file")) { try ResultSet.read(path: path) }
    }
    #expect {
      try Gunzip.bytes("\(folder.path)/a.csv.gz", limit: Sample.csv.utf8.count - 1)
    } throws: { ($0 as? Complaint)?.code == .badInput && "\($0)".contains("MiB unpacked") }
    #expect {
      try Gunzip.bytes(plain, program: "no-such-gzip")
    } throws: { ($0 as? Complaint)?.code == .unavailable && "\($0)".contains("install gzip") }
    let header = folder.write(CSV.line(CSV.header), to: "header.csv")
    #expect(throws: Complaint(.badInput, "\(header) has a header and no rows")) { try ResultSet.read(path: header) }
    // The reference results, as they lie in the checkout.
    let reference = try ResultSet.read(path: Checkout.path("results/reference.csv.gz"))
    #expect(reference.rows.count > 1_000 && reference.record != nil)
  }

  @Test func complaintsNameTheLine() throws {
    #expect(complaint("") == "a.csv is empty")
    #expect(complaint("a,b\r\n") == "a.csv, line 1: not a result of schema 2: column 1 is 'a', not 'schema'")
    #expect(try #require(complaint("schema,run_id\r\n")).contains("it has 2 columns, not 15"))
    func changed(_ column: Int, _ value: String) -> String? {
      var fields = [
        "2", "r", "3", "7", "1", "priority", "x", "a=b", "stealing", "2", "wait_p50_ns", "ns", "12.25", "10", "n1",
      ]
      fields[column] = value
      return complaint(CSV.line(CSV.header) + CSV.line(fields))
    }
    #expect(changed(5, "other") == nil)
    #expect(changed(0, "3") == "a.csv, line 2: schema '3' below a header of schema 2")
    #expect(changed(0, "1") == "a.csv, line 2: schema '1' below a header of schema 2")
    #expect(changed(2, "x") == "a.csv, line 2: block is 'x', not a count")
    #expect(changed(12, "nan") == "a.csv, line 2: value is 'nan', not a number")
    for value in ["1e308", "-1e31", "1e-320"] {
      #expect(changed(12, value) == "a.csv, line 2: value is '\(value)', beyond anything that is measured")
    }
    for value in ["0", "-0", "12.5", "1e-30", "1e30"] { #expect(changed(12, value) == nil) }
    #expect(
      changed(12, "-12.5") == "a.csv, line 2: value is '-12.5', and wait_p50_ns is a time, which is never negative")
    // More digits than any number has, and one more than 64 bits hold.
    for workers in ["two", String(repeating: "9", count: 5_000), "\(UInt64(1) << 63)"] {
      #expect(changed(9, workers) == "a.csv, line 2: workers is '\(workers)', not a count")
    }
    for (column, value) in [(9, "-1"), (13, ""), (7, "novalue"), (12, "1,5")] {
      #expect(changed(column, value)?.hasPrefix("a.csv, line 2: ") == true)
    }
    #expect(complaint(CSV.line(CSV.header) + "1,r\r\n") == "a.csv, line 2: 2 columns instead of 15")
  }
}
