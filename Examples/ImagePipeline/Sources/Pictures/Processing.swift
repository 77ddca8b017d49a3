import Operations

/// What is to be done with a picture: first make it smaller, then apply filters one after another.
///
/// A processing is a value without state: it may be used by any number of threads, and as a key of a cache.
///
/// ```swift
/// let processing = try Processing(parsing: "size:200,sepia,round:16")
/// let thumbnail = processing.apply(to: picture, on: .stealing)
/// ```
public struct Processing: Sendable, Hashable, CustomStringConvertible {
  /// A change of all pixels.
  public enum Filter: Hashable, Sendable, CustomStringConvertible {
    /// The brown of old photographs.
    case sepia
    /// Without colours.
    case grey
    /// Soft. The radius is in pixels, from 1 to 1,000.
    case blur(radius: Int)
    /// With round corners. The radius is in pixels, from 1 to 10,000.
    case round(radius: Int)

    private static let blurs = 1...Picture.maximumBlur
    private static let rounds = 1...10_000

    /// How filters are written, for help texts and errors.
    public static let forms = ["sepia", "grey", "blur:<radius>", "round:<radius>"]

    /// Reads a filter: `sepia`, `grey`, `blur:4` or `round:16`. Spaces and capitals are not allowed.
    ///
    /// - Throws: ``PictureError``: there is no such filter, or its number is missing or out of range.
    public init(parsing text: some StringProtocol) throws(PictureError) {
      let (name, number) = split(text)
      switch name {
      case "sepia":
        try Self.checkNone(number, of: name)
        self = .sepia
      case "grey":
        try Self.checkNone(number, of: name)
        self = .grey
      case "blur": self = .blur(radius: try parsed(number, of: name, in: Self.blurs))
      case "round": self = .round(radius: try parsed(number, of: name, in: Self.rounds))
      default: throw .unknownFilter(name)
      }
    }

    private static func checkNone(_ number: String?, of name: String) throws(PictureError) {
      if let number { throw .wrongNumber(of: name, text: number, range: nil) }
    }

    /// As `init(parsing:)` reads it.
    public var description: String {
      switch self {
      case .sepia: "sepia"
      case .grey: "grey"
      case .blur(let radius): "blur:\(radius)"
      case .round(let radius): "round:\(radius)"
      }
    }

    /// Applies the filter. Traps when a radius is out of the range of its function.
    public func apply(to picture: Picture) -> Picture {
      switch self {
      case .sepia: picture.sepia()
      case .grey: picture.grey()
      case .blur(let radius): picture.blurred(radius: radius)
      case .round(let radius): picture.roundedCorners(radius: radius)
      }
    }
  }

  private static let sizes = 1...65_535

  /// The most pixels of a side. Nil leaves the size as it is.
  public let size: Int?
  /// In the order in which they are applied.
  public let filters: [Filter]

  /// Makes a processing. Without arguments it changes nothing.
  ///
  /// Traps when `size` is below 1.
  public init(size: Int? = nil, filters: [Filter] = []) {
    if let size { Picture.checkSize(size) }
    self.size = size
    self.filters = filters
  }

  /// Reads a processing: a size, if there is one, and filters, with commas between them.
  ///
  /// `size:200,sepia,blur:4` is an example. `unchanged`, or no text, changes nothing.
  ///
  /// - Throws: ``PictureError``: there is no such filter, or a number is missing or out of range.
  public init(parsing text: String) throws(PictureError) {
    var parts = text.isEmpty || text == "unchanged" ? [] : text.split(separator: ",", omittingEmptySubsequences: false)
    var size: Int?
    if let first = parts.first {
      let (name, number) = split(first)
      if name == "size" {
        size = try parsed(number, of: name, in: Self.sizes)
        parts.removeFirst()
      }
    }
    var filters: [Filter] = []
    for part in parts { filters.append(try Filter(parsing: part)) }
    self.init(size: size, filters: filters)
  }

  /// As `init(parsing:)` reads it.
  public var description: String {
    let parts = (size.map { ["size:\($0)"] } ?? []) + filters.map(\.description)
    return parts.isEmpty ? "unchanged" : parts.joined(separator: ",")
  }

  /// Makes the picture smaller, and then applies the filters in their order.
  ///
  /// The result is the same on each backend. *Cost*: O(pixels) for each filter, after the first pixels have been made
  /// fewer. The function blocks the calling thread, which takes part.
  ///
  /// Traps when a filter's radius is out of range.
  ///
  /// - Parameter picture: is not changed.
  public func apply(to picture: Picture) -> Picture {
    let small = size.map { picture.downscaled(toFit: $0) } ?? picture
    return filters.reduce(small) { $1.apply(to: $0) }
  }
}

/// What stands before and behind the first colon. Without a colon there is no number.
private func split(_ text: some StringProtocol) -> (name: String, number: String?) {
  let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
  return (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
}

private func parsed(_ number: String?, of name: String, in range: ClosedRange<Int>) throws(PictureError) -> Int {
  // `Int` would read "+4" too, and then the description would not be what was read.
  guard let text = number, text.allSatisfy({ ("0"..."9").contains($0) }), let value = Int(text), range.contains(value)
  else { throw .wrongNumber(of: name, text: number ?? "", range: range) }
  return value
}
