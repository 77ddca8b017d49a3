#if HTTP
  import NIOCore
  import NIOHTTP1

  /// All that a connection needs to know to answer one request.
  struct Answer {
    enum Ending {
      /// The whole body, and then the next request.
      case complete
      /// The connection is closed.
      case close
      /// Silence, until the client closes.
      case silence
    }

    var status: Int
    var headers: [(String, String)] = []
    var body = ByteBuffer()
    /// The body is sent again and again.
    var isEndless = false
    var ending = Ending.complete
    /// The connection is closed in place of a head.
    var drops = false
    var delay = TimeAmount.zero
    /// For this answer alone.
    var bytesPerSecond: Double?

    static func text(_ status: Int, _ text: String, headers: [(String, String)] = []) -> Answer {
      let body = ByteBuffer(string: text + "\n")
      let always = [("content-type", "text/plain"), ("content-length", "\(body.readableBytes)")]
      return Answer(status: status, headers: always + headers, body: body)
    }
  }

  /// What a client asks for beside the address.
  struct Conditions {
    var ifNoneMatch: String?
    var ifModifiedSince: String?
    var range: String?
    var ifRange: String?

    init(_ headers: HTTPHeaders) {
      let tags = headers["if-none-match"]
      ifNoneMatch = tags.isEmpty ? nil : tags.joined(separator: ",")
      ifModifiedSince = headers.first(name: "if-modified-since")
      range = headers.first(name: "range")
      ifRange = headers.first(name: "if-range")
    }

    /// Whether the client has this picture already. An entity tag counts for more than a date.
    func match(etag: String, lastModified: Int) -> Bool {
      guard let ifNoneMatch else {
        guard let date = ifModifiedSince.flatMap(HTTPDate.seconds) else { return false }
        return lastModified <= date
      }
      return ifNoneMatch.split(separator: ",").contains {
        let tag = $0.drop { $0 == " " }.prefix { $0 != " " }
        return tag == "*" || (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag) == etag
      }
    }

    enum Part: Equatable {
      case whole, unsatisfiable
      case bytes(Range<Int>)
    }

    /// The part of the picture that is asked for. A range that is not understood counts as none, and so do several
    /// ranges.
    func part(of byteCount: Int, etag: String?, lastModified: Int?) -> Part {
      guard let range, range.hasPrefix("bytes=") else { return .whole }
      if let ifRange {
        let isSame = ifRange == etag || (lastModified != nil && HTTPDate.seconds(ifRange) == lastModified)
        guard isSame else { return .whole }
      }
      let ends = range.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
      guard ends.count == 2 else { return .whole }
      if ends[0].isEmpty {
        guard let count = Int(ends[1]) else { return .whole }
        return count > 0 && byteCount > 0 ? .bytes(max(0, byteCount - count)..<byteCount) : .unsatisfiable
      }
      guard let first = Int(ends[0]), ends[1].isEmpty || Int(ends[1]) != nil else { return .whole }
      let last = Int(ends[1]) ?? .max
      guard first <= last else { return .whole }
      return first < byteCount ? .bytes(first..<min(byteCount - 1, last) + 1) : .unsatisfiable
    }
  }

  extension Answer {
    /// The answer to a request of a picture.
    /// - Parameters:
    ///   - script: What the address asks for. Used-up faults have been taken out.
    ///   - picture: Nil when there is none at this place.
    ///   - serial: Another number for each answer of the server.
    init(
      _ script: ServerScript, uri: String, _ picture: ServedPicture?, _ conditions: Conditions, maxAge: Int, serial: Int
    ) {
      self = Self.undisturbed(script, uri: uri, picture, conditions, maxAge: maxAge, serial: serial)
      delay = .microseconds(Int64(script.delayMilliseconds * 1000))
      bytesPerSecond = script.bytesPerSecond
      drops = script.drops
      if script.isShort, let last = headers.firstIndex(where: { $0.0 == "content-length" }) {
        headers[last].1 = "\(body.readableBytes + 1000)"
        ending = .close
      }
      if let cut = script.cut {
        keep(cut)
        ending = .close
      } else if let stall = script.stall {
        keep(stall)
        ending = .silence
      }
    }

    private mutating func keep(_ count: Int) {
      guard !isEndless else {
        let block = body
        body = ByteBuffer()
        isEndless = false
        while body.readableBytes < count { body.writeImmutableBuffer(block) }
        keep(count)
        return
      }
      body = body.getSlice(at: body.readerIndex, length: min(count, body.readableBytes)) ?? body
    }

    private static func undisturbed(
      _ script: ServerScript, uri: String, _ picture: ServedPicture?, _ conditions: Conditions, maxAge: Int, serial: Int
    ) -> Answer {
      if let target = script.redirect {
        return .text(302, "elsewhere", headers: [("location", target == "loop" ? uri : target)])
      }
      if let status = script.status {
        let retry = script.retryAfter.map { [("retry-after", "\($0)")] } ?? []
        return status == 204 || status == 304
          ? Answer(status: status, headers: retry) : .text(status, "as asked", headers: retry)
      }
      var random = SplitMix64(0, uri, 0)
      switch script.body {
      case .endless:
        return Answer(
          status: 200, headers: [("content-type", "image/jpeg")], body: ByteBuffer(bytes: random.bytes(65_536)),
          isEndless: true)
      case .wrongType:
        let body = ByteBuffer(string: "<!DOCTYPE html><title>Not a picture</title><p>This is a page, not a picture.\n")
        return Answer(
          status: 200, headers: [("content-type", "text/html"), ("content-length", "\(body.readableBytes)")], body: body
        )
      case .picture, .garbage: break
      }
      guard var picture else { return .text(404, "no such picture") }
      if script.body == .garbage {
        picture = ServedPicture(
          bytes: random.bytes(picture.byteCount), etag: "garbage-\(script.index)", lastModified: picture.lastModified)
      }
      if script.etagChanges {
        picture = picture.renamed(etag: "changed-\(serial)", lastModified: picture.lastModified)
      }
      return served(picture, hasValidators: script.hasValidators, conditions, maxAge: maxAge)
    }

    private static func served(
      _ picture: ServedPicture, hasValidators: Bool, _ conditions: Conditions, maxAge: Int
    ) -> Answer {
      var headers = [("cache-control", "max-age=\(maxAge)"), ("accept-ranges", "bytes")]
      if hasValidators {
        headers += [("etag", picture.etag), ("last-modified", HTTPDate.text(picture.lastModified))]
        if conditions.match(etag: picture.etag, lastModified: picture.lastModified) {
          return Answer(status: 304, headers: headers)
        }
      }
      headers.append(("content-type", picture.contentType))
      let part = conditions.part(
        of: picture.byteCount, etag: hasValidators ? picture.etag : nil,
        lastModified: hasValidators ? picture.lastModified : nil)
      switch part {
      case .unsatisfiable:
        return .text(416, "no such range", headers: [("content-range", "bytes */\(picture.byteCount)")])
      case .whole:
        return Answer(
          status: 200, headers: headers + [("content-length", "\(picture.byteCount)")], body: picture.buffer)
      case .bytes(let range):
        let slice = picture.buffer.getSlice(at: picture.buffer.readerIndex + range.lowerBound, length: range.count)
        headers += [
          ("content-length", "\(range.count)"),
          ("content-range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(picture.byteCount)"),
        ]
        return Answer(status: 206, headers: headers, body: slice ?? ByteBuffer())
      }
    }
  }
#endif
