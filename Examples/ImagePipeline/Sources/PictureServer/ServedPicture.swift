#if HTTP
  import NIOCore

  /// One picture as the server has it: the bytes of a file, and what a cache needs to know of it.
  public struct ServedPicture: Sendable {
    /// The body of the answer. Two pictures made from each other's `bytes` share the memory.
    let buffer: ByteBuffer
    /// A strong entity tag, with its quotation marks.
    public let etag: String
    /// When the picture was last changed, in seconds since 1970.
    public let lastModified: Int
    public let contentType: String

    public var byteCount: Int { buffer.readableBytes }
    public var bytes: [UInt8] { Array(buffer.readableBytesView) }

    /// - Parameters:
    ///   - etag: The text between the quotation marks. It holds no quotation mark.
    ///   - lastModified: Seconds since 1970. The default is the start of 2024.
    public init(
      bytes: [UInt8], etag: String, lastModified: Int = 1_704_067_200, contentType: String = "image/jpeg"
    ) {
      self.init(
        buffer: ByteBuffer(bytes: bytes), etag: "\"\(etag)\"", lastModified: lastModified, contentType: contentType)
    }

    init(buffer: ByteBuffer, etag: String, lastModified: Int, contentType: String) {
      (self.buffer, self.etag, self.lastModified, self.contentType) = (buffer, etag, lastModified, contentType)
    }

    /// The same bytes, in the same memory, under another entity tag and date.
    public func renamed(etag: String, lastModified: Int) -> ServedPicture {
      ServedPicture(buffer: buffer, etag: "\"\(etag)\"", lastModified: lastModified, contentType: contentType)
    }
  }

  /// Dates as HTTP writes them: `Mon, 01 Jan 2024 00:00:00 GMT`.
  enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// - Parameter seconds: Since 1970. Not negative.
    static func text(_ seconds: Int) -> String {
      let (days, time) = seconds.quotientAndRemainder(dividingBy: 86_400)
      var (year, rest) = (1970, days)
      while rest >= length(of: year) {
        rest -= length(of: year)
        year += 1
      }
      var month = 0
      while rest >= length(ofMonth: month, in: year) {
        rest -= length(ofMonth: month, in: year)
        month += 1
      }
      let clock = [time / 3600, time / 60 % 60, time % 60].map(two).joined(separator: ":")
      return "\(weekdays[days % 7]), \(two(rest + 1)) \(months[month]) \(year) \(clock) GMT"
    }

    /// Seconds since 1970. Nil for a date in another form, or before 1970.
    static func seconds(_ text: String) -> Int? {
      let parts = text.split(separator: " ")
      guard parts.count == 6, parts[5] == "GMT", let day = Int(parts[1]), (1...31).contains(day),
        let month = months.firstIndex(of: String(parts[2])), let year = Int(parts[3]), (1970...9999).contains(year)
      else { return nil }
      let clock = parts[4].split(separator: ":").compactMap { Int($0) }
      guard clock.count == 3, clock.allSatisfy({ (0...60).contains($0) }) else { return nil }
      let days =
        (1970..<year).reduce(0) { $0 + length(of: $1) }
        + (0..<month).reduce(0) { $0 + length(ofMonth: $1, in: year) } + day - 1
      return days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func length(of year: Int) -> Int { isLeap(year) ? 366 : 365 }

    private static func length(ofMonth month: Int, in year: Int) -> Int {
      month == 1 && isLeap(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    }
  }
#endif
