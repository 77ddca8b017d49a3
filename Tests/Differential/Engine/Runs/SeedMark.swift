import Glibc

/// A file that names the program being run, for the one who finds the process dead.
public struct SeedMark: Sendable {
  private let descriptor: Int32

  public init?(_ path: String) {
    descriptor = open(path, O_CREAT | O_RDWR | O_TRUNC, 0o600)
    if descriptor < 0 { return nil }
  }

  public func set(_ seed: UInt64) {
    var seed = seed
    _ = pwrite(descriptor, &seed, 8, 0)
  }

  public static func read(_ path: String) -> UInt64? {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var seed: UInt64 = 0
    return pread(descriptor, &seed, 8, 0) == 8 ? seed : nil
  }
}
