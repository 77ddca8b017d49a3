#if HTTP
  /// What the path and the query of a request ask the server to do. `PictureServer` lists the words.
  struct ServerScript {
    enum Body: Equatable {
      case picture, garbage, wrongType, endless
    }
    /// The place that is asked for.
    var index: Int
    var randomSeed: UInt64?

    var status: Int?
    var retryAfter: Int?
    var redirect: String?
    var body = Body.picture
    /// The number of bytes of the body after which the connection is closed.
    var cut: Int?
    /// The number of bytes of the body after which there is silence.
    var stall: Int?
    var isShort = false
    var drops = false
    var delayMilliseconds = 0.0
    var bytesPerSecond: Double?
    /// The faults are for the first requests of the address only.
    var times = Int.max
    var etagChanges = false
    var hasValidators = true

    /// Thrown with the text of an answer of status 400 or 404.
    struct Problem: Error {
      var status: Int
      var text: String
    }

    init(uri: String) throws(Problem) {
      let pieces = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      let path = pieces[0].split(separator: "/", omittingEmptySubsequences: true)
      let places = "paths: /picture/NUMBER.jpg and /random/SEED/NUMBER.jpg"
      guard let index = path.last.flatMap({ Int($0.prefix { $0 != "." }) }) else {
        throw Problem(status: 404, text: places)
      }
      self.index = index
      switch (path.first, path.count) {
      case ("picture", 2): break
      case ("random", 3):
        guard let seed = UInt64(path[1]) else { throw Problem(status: 404, text: places) }
        randomSeed = seed
      default: throw Problem(status: 404, text: places)
      }
      guard pieces.count > 1 else { return }
      for item in pieces[1].split(separator: "&") {
        let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let value = parts.count > 1 ? parts[1] : nil
        if parts[0] == "fault", let value {
          try apply(value, nil)
        } else {
          try apply(parts[0], value)
        }
      }
    }

    /// What is left of the script when the faults have been used up.
    var healed: ServerScript {
      var result = self
      (result.status, result.retryAfter, result.redirect, result.body) = (nil, nil, nil, .picture)
      (result.cut, result.stall, result.isShort, result.drops) = (nil, nil, false, false)
      (result.delayMilliseconds, result.bytesPerSecond) = (0, nil)
      return result
    }

    private mutating func apply(_ name: String, _ value: String?) throws(Problem) {
      func number(_ range: ClosedRange<Int> = 0...Int(Int32.max)) throws(Problem) -> Int {
        guard let number = value.flatMap({ Int($0) }), range.contains(number) else {
          throw Problem(
            status: 400,
            text: "'\(name)' needs a number from \(range.lowerBound) to \(range.upperBound): \(name)=NUMBER")
        }
        return number
      }
      switch name {
      case "status": status = try number(200...599)
      case "retry-after": retryAfter = try number()
      case "times": times = try number()
      case "delay": delayMilliseconds = Double(try number())
      case "slow": bytesPerSecond = Double(try number(1...Int(Int32.max)))
      case "cut": cut = try number()
      case "stall": stall = value == nil ? 0 : try number()
      case "short": isShort = true
      case "drop": drops = true
      case "endless": body = .endless
      case "garbage": body = .garbage
      case "wrongtype": body = .wrongType
      case "redirect":
        guard let value, let decoded = Self.decoded(value) else {
          throw Problem(status: 400, text: "'redirect' needs an address or 'loop': redirect=/picture/2.jpg")
        }
        redirect = decoded
      case "etag-changes": etagChanges = true
      case "no-validators": hasValidators = false
      case "key": break
      default:
        let digits = name.hasPrefix("status") ? name.dropFirst(6) : name[...]
        guard let code = Int(digits), (200...599).contains(code) else {
          throw Problem(
            status: 400,
            text:
              "unknown word '\(name)'; words: status retry-after times delay slow cut stall short drop endless garbage "
              + "wrongtype redirect etag-changes no-validators key")
        }
        status = code
      }
    }

    /// Text with its `%XX` replaced. Nil when what comes out is not text, or has control characters.
    private static func decoded(_ text: String) -> String? {
      var bytes: [UInt8] = []
      var rest = Array(text.utf8)[...]
      while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
          bytes.append(byte)
          continue
        }
        guard rest.count >= 2, let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
          return nil
        }
        bytes.append(code)
        rest.removeFirst(2)
      }
      guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
      return String(validating: bytes, as: UTF8.self)
    }

    // MARK: The random mix

    /// Adds the fault of this attempt, if there is one.
    ///
    /// Each of the first two requests of an address has a fault in 15 of 100 cases. All later ones have none. The kinds
    /// are alike frequent: status 500; status 503; status 429 with `Retry-After: 0`; the connection closed in the
    /// middle of the body; a body shorter than announced; the connection closed without an answer; 50 ms of delay.
    mutating func addRandomFault(seed: UInt64, uri: String, attempt: Int, byteCount: Int) {
      guard attempt <= 2 else { return }
      var random = SplitMix64(seed, uri, attempt)
      guard random.fraction() < 0.15 else { return }
      switch random.next() % 7 {
      case 0: status = 500
      case 1: status = 503
      case 2: (status, retryAfter) = (429, 0)
      case 3: cut = Int(Double(byteCount) * random.fraction())
      case 4: isShort = true
      case 5: drops = true
      default: delayMilliseconds = 50
      }
    }
  }
#endif
