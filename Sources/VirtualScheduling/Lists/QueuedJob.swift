/// A job that waits in a list.
package struct QueuedJob {
  /// What the job stands for: a word of the caller's.
  var word: UInt
  /// Its priority: 0 (least urgent) to `VirtualPool.levels - 1`.
  var level: Int32
  /// The worker that made the job ready; -1 for a thread outside.
  var maker: Int32
  /// How many jobs were queued before this one.
  var number: Int
}
