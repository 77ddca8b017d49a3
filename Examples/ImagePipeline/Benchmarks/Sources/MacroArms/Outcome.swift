/// A time in which a cell was visible. In seconds of one clock.
struct Visit: Sendable {
  var began: Double
  var shown: Double?
  /// A picture with wrong pixels came.
  var isWrong = false
  var ended: Double?
}

/// What came of a session.
public struct Outcome: Sendable {
  /// Times in which a cell was visible.
  public var visits = 0
  /// Seconds from visible to shown, sorted, of the visits that lasted `stay` or longer. A cell that left without a
  /// picture counts with the time that it was visible.
  public var latencies: [Double] = []
  /// How many of them left without a picture.
  public var neverShown = 0
  /// Visits of 100 ms and longer, and those of them with a picture within 100 ms.
  public var stayed = 0
  public var prompt = 0
  /// Seconds without a picture, of all visits.
  public var blank = 0.0
  /// From the beginning until the last screen was whole.
  public var seconds = 0.0
  /// Cells of the last screen without a picture, and pictures with wrong pixels.
  public var lost = 0
  /// Of bodies.
  public var bytes = 0
  /// Bytes beyond one download of each picture that was seen.
  public var bytesForNothing = 0
  public var requests = 0
  public var decodes = Decodes()
  /// Decodings beyond one for each picture that was seen: prefetching that came to nothing is among them.
  public var decodesNotSeen = 0
  public var usage = Usage()
  /// The most at one time.
  public var threads = 0

  /// In a fast fling a cell is visible for some tens of milliseconds. Nobody sees what is in it.
  public static let stay = 0.2

  init(visits: [Visit], end: Double) {
    self.visits = visits.count
    for visit in visits {
      let left = visit.ended ?? end
      // A picture that comes after the cell has left is not shown.
      let shown = visit.shown.flatMap { $0 <= left ? $0 : nil }
      let time = (shown ?? left) - visit.began
      blank += time
      if left - visit.began >= Self.stay {
        latencies.append(time)
        if shown == nil { neverShown += 1 }
      }
      if left - visit.began >= 0.1 {
        stayed += 1
        if shown != nil, time <= 0.1 { prompt += 1 }
      }
    }
    latencies.sort()
  }

  /// - Parameter part: such as 0.99.
  public func latency(_ part: Double) -> Double {
    guard !latencies.isEmpty else { return 0 }
    return latencies[min(latencies.count - 1, Int(Double(latencies.count) * part))]
  }

  public var blankPerVisit: Double { blank / Double(max(visits, 1)) }
  public var promptShare: Double { Double(prompt) / Double(max(stayed, 1)) }
  public var wastedDecodeShare: Double { Double(decodes.wasted) / Double(max(decodes.all, 1)) }
}
