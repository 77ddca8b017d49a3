/// What the fields of an answer say. A field that makes no sense counts as none.
extension TransportHead {
  var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) && headers["location"] != nil }

  var contentLength: Int? { headers["content-length"].flatMap { Self.number($0) } }

  /// The first number and the size of `bytes 100-199/200`. The size may be unknown: `*`.
  var contentRange: (start: Int, total: Int?)? {
    guard let range = headers["content-range"], range.hasPrefix("bytes "),
      case let parts = range.dropFirst(6).split(separator: "/"), parts.count == 2,
      let start = parts[0].split(separator: "-").first.flatMap({ Self.number($0) })
    else { return nil }
    return (start, Self.number(parts[1]))
  }

  /// Without a length the body ends when the connection does. Then a body that was cut short looks like a whole one.
  var tellsEndOfBody: Bool {
    contentLength != nil || headers["transfer-encoding"]?.lowercased().hasSuffix("chunked") == true
  }

  /// What was done to the body, though nobody had asked for that.
  var coding: String? {
    [headers["content-encoding"], headers["transfer-encoding"]].compactMap { $0?.lowercased() }.joined(separator: ",")
      .split(separator: ",").map { String($0.filter { !$0.isWhitespace }) }
      .first { !["", "identity", "chunked"].contains($0) }
  }

  var mustNotBeStored: Bool { directives.contains("no-store") }

  /// How long the answer counts as fresh, in seconds. An age or a date that makes no sense counts as 0.
  /// - Parameter now: seconds since 1970, where the answer has no date.
  func maximumAge(_ now: Double) -> Double? {
    if directives.contains("no-cache") { return 0 }
    if let age = directives.first(where: { $0.hasPrefix("max-age=") }) { return Self.seconds(age.dropFirst(8)) ?? 0 }
    guard let expires = headers["expires"] else { return nil }
    guard let end = Self.time(expires) else { return 0 }
    return min(max(0, end - (headers["date"].flatMap(Self.time) ?? now)), Self.longest)
  }

  /// How long a cache on the way has kept the answer, in seconds.
  var age: Double { headers["age"].flatMap { Self.seconds($0) } ?? 0 }

  /// What the server asks to wait for: a number of seconds, or until a date.
  /// - Parameter now: seconds since 1970.
  func retryAfter(_ now: Double) -> Duration? {
    guard let text = headers["retry-after"] else { return nil }
    if let seconds = Self.number(text) { return .seconds(seconds) }
    return Self.time(text).map { .seconds(max(0, $0 - now)) }
  }

  /// The directives of `Cache-Control` without quotation marks. A comma between those ends no directive.
  private var directives: [String] {
    var (directives, isQuoted) = ([""], false)
    for character in (headers["cache-control"] ?? "").lowercased() where !character.isWhitespace {
      switch character {
      case "\"": isQuoted.toggle()
      case "," where !isQuoted: directives.append("")
      default: directives[directives.count - 1].append(character)
      }
    }
    return directives
  }

  /// RFC 9111: what is too large counts as 2^31 seconds.
  private static let longest = 2_147_483_648.0
  private static func seconds(_ text: some StringProtocol) -> Double? { number(text).map { min(Double($0), longest) } }

  /// A number without a sign. One that is too large for an `Int` is the largest.
  private static func number(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text) ?? .max
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// A date in seconds since 1970, in the three forms of RFC 9110: `Sun, 06 Nov 1994 08:49:37 GMT`, and those of old
  /// servers,
  /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
  private static func time(_ text: String) -> Double? {
    var words = text.split { " -".contains($0) }
    if words.count == 5 { words = [words[0], words[2], words[1], words[4], words[3], "GMT"] }
    guard words.count == 6, words[5] == "GMT", let day = number(words[1]), (1...31).contains(day),
      let month = months.firstIndex(of: String(words[2])), let digits = number(words[3]),
      case let year = words[3].count == 2 ? digits + (digits < 70 ? 2000 : 1900) : digits, (1970...9999).contains(year),
      case let clock = words[4].split(separator: ":").compactMap({ number($0) }), clock.count == 3, clock[0] < 24,
      clock[1] < 60, clock[2] <= 60
    else { return nil }
    // A year that begins in March has its leap day at the end.
    let (years, months) = (month < 2 ? year - 1 : year, (month + 10) % 12)
    let leapDays = years / 4 - years / 100 + years / 400
    let days = 365 * years + leapDays + (153 * months + 2) / 5 + day - 1 - 719_468
    return Double(((days * 24 + clock[0]) * 60 + clock[1]) * 60 + clock[2])
  }
}
