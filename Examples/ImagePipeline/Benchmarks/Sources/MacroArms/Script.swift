import OperationComposition

/// What a user does, tick by tick. Cells are numbered in the order of the list.
public struct Script: Sendable {
  public struct Tick: Sendable, Equatable {
    /// Seconds since the beginning.
    public var time: Double
    public var visible: Range<Int>
    /// What may become visible soon.
    public var ahead: Range<Int>
    /// The list moves so fast that nothing is to be begun.
    public var isFast: Bool

    public init(time: Double, visible: Range<Int>, ahead: Range<Int>, isFast: Bool = false) {
      (self.time, self.visible, self.ahead, self.isFast) = (time, visible, ahead, isFast)
    }

    /// The cells of `ahead` in the order in which they come near.
    public var nearestFirst: [Int] { ahead.lowerBound < visible.lowerBound ? ahead.reversed() : Array(ahead) }
  }

  /// In the order of time. The first tick is at 0.
  public var ticks: [Tick]
  public init(ticks: [Tick]) { self.ticks = ticks }

  /// Seconds between two ticks of a session: as a screen has them.
  public static let tick = 1.0 / 60
}

extension Script {
  /// A list that a user scrolls through.
  public struct List: Sendable {
    public var pictures = 2_000
    public var visible = 60
    public var ahead = 60
    /// Cells in a row. A row comes and goes as a whole.
    public var columns = 4
    /// Above so many cells a second the list is fast.
    public var fast = 500.0

    public init() {}
  }

  /// A session of stops, drags and flings. A seed decides: the same seed gives the same session on each machine.
  ///
  /// A stop lasts 0.4 to 1 s. Three of four gestures are flings, which begin with 400 to 2,000 cells a second. A
  /// fling's speed falls to 1/e in 0.35 s, and the fling ends below 40 cells a second. The other gestures are drags: 80
  /// to 200 cells a second for 0.3 to 0.7 s. A third of all gestures turn back. The session ends with a stop.
  /// - Parameter seconds: the time of the last tick.
  public static func session(seed: UInt64, seconds: Double, list: List = List()) -> Script {
    var generator = SeededGenerator(seed: seed)
    var scroll = Scroll(list)
    while scroll.time < seconds {
      scroll.rest(Double.random(in: 0.4...1, using: &generator))
      let isBack = Int.random(in: 0..<3, using: &generator) == 0
      let direction = isBack && scroll.position > 0 ? -1.0 : 1.0
      if Int.random(in: 0..<4, using: &generator) > 0 {
        var speed = Double.random(in: 400...2_000, using: &generator)
        while speed > 40, scroll.time < seconds {
          scroll.move(direction * speed)
          speed *= 0.953_5
        }
      } else {
        let speed = Double.random(in: 80...200, using: &generator)
        let end = scroll.time + Double.random(in: 0.3...0.7, using: &generator)
        while scroll.time < min(end, seconds) { scroll.move(direction * speed) }
      }
    }
    scroll.rest(Script.tick)
    return Script(ticks: scroll.ticks)
  }

  private struct Scroll {
    let list: List
    var ticks: [Tick] = []
    var position = 0.0
    var goesBack = false

    init(_ list: List) { self.list = list }

    var time: Double { Double(ticks.count) * Script.tick }

    mutating func rest(_ seconds: Double) {
      for _ in 0..<max(1, Int(seconds / Script.tick)) { move(0) }
    }

    mutating func move(_ speed: Double) {
      let end = Double(list.pictures - list.visible)
      position = min(max(position + speed * Script.tick, 0), end)
      if speed != 0 { goesBack = speed < 0 }
      let first = Int(position) / list.columns * list.columns
      let visible = first..<first + list.visible
      let ahead =
        goesBack
        ? max(0, first - list.ahead)..<first
        : visible.upperBound..<min(visible.upperBound + list.ahead, list.pictures)
      ticks.append(Tick(time: time, visible: visible, ahead: ahead, isFast: abs(speed) > list.fast))
    }
  }
}
