import Glibc

/// `X.csv` and `X.env.json`, written beside their places as `….partial` and renamed when they are complete, so that
/// earlier results are never half overwritten.
public final class ResultFiles {
  private let csv: String
  private let environment: String
  private var descriptor: Int32

  /// Opens the file to write to; throws when the place cannot be written.
  public init(csv: String) throws {
    guard csv.hasSuffix(".csv"), !csv.hasSuffix("/.csv"), csv != ".csv" else {
      throw Complaint(.usage, "--output takes the name of a file that ends in .csv, not '\(csv)'")
    }
    self.csv = csv
    environment = csv.dropLast(".csv".count) + ".env.json"
    descriptor = open(csv + ".partial", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Self.complaint(.cannotCreate, csv) }
    try append(CSV.line(CSV.header))
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  public func append(_ text: String) throws {
    try Self.write(text, to: descriptor, name: csv)
  }

  /// Puts both files in their places.
  public func publish(environment json: String) throws {
    guard fsync(descriptor) == 0, close(descriptor) == 0 else { throw Self.complaint(.inputOutput, csv) }
    descriptor = -1
    let file = open(environment + ".partial", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw Self.complaint(.cannotCreate, environment) }
    try Self.write(json, to: file, name: environment)
    guard fsync(file) == 0, close(file) == 0 else { throw Self.complaint(.inputOutput, environment) }
    for name in [environment, csv] {
      guard rename(name + ".partial", name) == 0 else { throw Self.complaint(.inputOutput, name) }
    }
  }

  /// Leaves everything as it was before.
  public func discard() {
    close(descriptor)
    descriptor = -1
    unlink(csv + ".partial")
  }

  /// Writes all of a text, and says so when it cannot.
  public static func write(_ text: String, to descriptor: Int32, name: String) throws {
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
