import Glibc
import HarnessWords

/// The name of this machine, for the rows and for `X.env.json`.
package enum Host {
  /// The node's name that Slurm gives, else the name that the kernel gives. Several nodes of Slurm may share a kernel.
  package static let name = name(node: getenv("SLURMD_NODENAME").map { String(cString: $0) }, kernel: kernelName)

  static func name(node: String?, kernel: String) -> String {
    let chosen = node.map { $0.isEmpty ? kernel : $0 } ?? kernel
    return Printable.name(chosen)
  }

  /// The release of the kernel.
  package static var kernelRelease: String { SystemFile.read("/proc/sys/kernel/osrelease") ?? "not visible" }

  private static var kernelName: String {
    var text = [CChar](repeating: 0, count: 256)
    guard gethostname(&text, text.count - 1) == 0, text[0] != 0 else { return "unknown" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
