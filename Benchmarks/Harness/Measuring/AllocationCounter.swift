import CJemalloc
import Glibc

/// Reads jemalloc's statistics in a process that was started on jemalloc.
///
/// Requests are counted by size class, so bytes are what the allocator set aside, not what was asked for. The process
/// runs with `tcache:false`, because a flush reaches the cache of the calling thread alone. Requests that workers serve
/// from their caches would be counted late.
package struct AllocationCounter {
  package struct Snapshot: Sendable {
    package let requests: Int
    package let bytes: Int
  }

  /// The setting with which the counting process is started.
  package static let configuration = "tcache:false"

  private let control: opbench_mallctl
  /// The counters of all size classes. The names of the counters are made once: a reading must not allocate, because
  /// the allocation would be counted too.
  private let classes: [(counter: UnsafeMutablePointer<CChar>, size: Int)]

  /// Nil when this process does not run on jemalloc.
  package init?() {
    guard let symbol = dlsym(nil, "mallctl") else { return nil }
    let control = unsafeBitCast(symbol, to: opbench_mallctl.self)
    let kinds = [("bins", "bin", "nbins"), ("lextents", "lextent", "nlextents")]
    classes = kinds.flatMap { counters, kind, number in
      (0..<Self.value(control, "arenas.\(number)", UInt32.self)).map { index in
        (
          strdup("stats.arenas.\(OPBENCH_ALL_ARENAS).\(counters).\(index).nmalloc")!,
          Self.value(control, "arenas.\(kind).\(index).size", Int.self)
        )
      }
    }
    self.control = control
  }

  package func read() -> Snapshot {
    advanceEpoch()
    var requests = 0
    var bytes = 0
    for (counter, size) in classes {
      let count = Int(Self.value(control, counter, UInt64.self))
      requests += count
      bytes += count * size
    }
    return Snapshot(requests: requests, bytes: bytes)
  }

  /// The bytes in use at this moment.
  package func bytesInUse() -> Int {
    advanceEpoch()
    return Self.value(control, "stats.allocated", Int.self)
  }

  /// jemalloc's statistics are those of the last epoch. Writing to the epoch makes a new epoch.
  private func advanceEpoch() {
    var epoch: UInt64 = 1
    let size = MemoryLayout<UInt64>.size
    let status = control("epoch", nil, nil, &epoch, size)
    precondition(status == 0, "jemalloc refuses a new epoch: error \(status)")
  }

  private static func value<Number: FixedWidthInteger>(
    _ control: opbench_mallctl, _ name: UnsafePointer<CChar>, _ type: Number.Type
  ) -> Number {
    var result: Number = 0
    var size = MemoryLayout<Number>.size
    let status = control(name, &result, &size, nil, 0)
    precondition(status == 0, "jemalloc does not know \(String(cString: name)): error \(status)")
    return result
  }
}
