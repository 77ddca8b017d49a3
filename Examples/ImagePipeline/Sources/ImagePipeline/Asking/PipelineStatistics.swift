import Pictures
import Synchronization

/// What a pipeline has done since its start.
public final class PipelineStatistics: Sendable {
  public enum Counter: Int, Sendable, CaseIterable {
    /// Pictures that were asked for, prefetching included.
    case requests
    case memoryHits
    case diskHits
    /// Requests sent to servers, with redirects and further attempts.
    case fetches
    case retries
    /// Answers with status 304: the picture on disk is still right.
    case notModified
    /// Bytes of bodies that came from servers.
    case bytes
    /// Bytes that a resumed download did not ask for again.
    case resumedBytes
    case decodes
    case processed
    /// Decoded pictures that nobody wanted any more.
    case wastedDecodes
    /// Files on disk that could not be written: the pictures were shown all the same.
    case failedStores
    /// Files on disk that were dropped because they were no picture.
    case droppedFiles
  }

  private let counts = Mutex([Int](repeating: 0, count: Counter.allCases.count))

  public subscript(_ counter: Counter) -> Int { counts.withLock { $0[counter.rawValue] } }
  func add(_ number: Int, to counter: Counter) { counts.withLock { $0[counter.rawValue] += number } }
}

/// A picture that counts as wasted when nobody has wanted it by the time that it is let go.
final class DecodedPicture: Sendable {
  let picture: Picture
  private let statistics: PipelineStatistics
  private let hasBeenWanted = Atomic(false)

  init(_ picture: Picture, _ statistics: PipelineStatistics) { (self.picture, self.statistics) = (picture, statistics) }
  deinit { if !hasBeenWanted.load(ordering: .acquiring) { statistics.add(1, to: .wastedDecodes) } }

  func isWanted() { hasBeenWanted.store(true, ordering: .releasing) }
}
