import Glibc

/// What this process occupies, as the kernel counts it.
public struct ProcessFootprint: Sendable {
  public var residentBytes: Int
  public var threads: Int

  public init(residentBytes: Int, threads: Int) {
    self.residentBytes = residentBytes
    self.threads = threads
  }

  public static var now: ProcessFootprint {
    ProcessFootprint(residentBytes: pages(field: 1) * Int(getpagesize()), threads: threadCount)
  }

  /// What this process has mapped, touched or not.
  public static var addressSpaceBytes: Int { pages(field: 0) * Int(getpagesize()) }

  /// A number of `statm`: 0 all, 1 resident.
  private static func pages(field: Int) -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let fields = text.split(separator: " ")
    return fields.count > field ? Int(fields[field]) ?? 0 : 0
  }

  /// A folder per thread.
  private static var threadCount: Int {
    guard let folder = opendir("/proc/self/task") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while let entry = readdir(folder) { if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 } }
    return count
  }
}
