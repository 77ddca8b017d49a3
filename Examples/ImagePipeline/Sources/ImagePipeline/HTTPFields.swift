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

  var mustNotBeStored: Bool { directives.contains("no-store") }

  /// How long the answer counts as fresh, in seconds.
  var maximumAge: Double? {
    if directives.contains("no-cache") { return 0 }
    return directives.first { $0.hasPrefix("max-age=") }.flatMap { Self.seconds($0.dropFirst(8)) }
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

  private var directives: [String] {
    (headers["cache-control"] ?? "").split(separator: ",").map { $0.filter { !$0.isWhitespace }.lowercased() }
  }

  /// RFC 9111: what is too large counts as 2^31 seconds.
  private static func seconds(_ text: some StringProtocol) -> Double? {
    number(text).map { min(Double($0), 2_147_483_648) }
  }

  /// A number without a sign. One that is too large for an `Int` is the largest.
  private static func number(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text) ?? .max
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// A date of the form `Sun, 06 Nov 1994 08:49:37 GMT`, which servers must send (RFC 9110), in seconds since 1970.
  private static func time(_ text: String) -> Double? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let day = number(words[1]), (1...31).contains(day),
      let month = months.firstIndex(of: String(words[2])), let year = number(words[3]), (1970...9999).contains(year),
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
