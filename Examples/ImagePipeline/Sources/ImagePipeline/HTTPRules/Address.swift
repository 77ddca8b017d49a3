import FoundationEssentials

/// Where a picture lies: `http://` or `https://`, a host, and a port from 1 to 65535 where one is named.
///
/// Addresses come from lists and from servers, and an HTTP client may trap on one that makes no sense. So all of them
/// pass here.
public struct Address: Sendable, Hashable {
  /// The address, without a name and a password.
  public let text: String
  /// "host:port", in lower case.
  public let host: String
  /// The name and the password of the address, as a value of the field `Authorization`.
  public let authorization: String?
  private let scheme: String

  /// - Parameter base: what a relative address is relative to.
  public init?(_ text: String, relativeTo base: Address? = nil) {
    guard let url = URL(string: text, relativeTo: base.flatMap { URL(string: $0.text) })?.absoluteURL,
      let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
      let host = url.host()?.lowercased(), Self.isHost(host),
      case let port = url.port ?? (scheme == "http" ? 80 : 443), (1...65_535).contains(port),
      url.port != nil || !Self.namesPort(url), var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return nil }
    (self.scheme, self.host) = (scheme, "\(host.contains(":") ? "[\(host)]" : host):\(port)")
    let (user, password) = (url.user(percentEncoded: false) ?? "", url.password(percentEncoded: false) ?? "")
    guard url.user() != nil || url.password() != nil else {
      (self.text, authorization) = (base == nil ? text : url.absoluteString, nil)
      return
    }
    (parts.user, parts.password) = (nil, nil)
    guard let shown = parts.string else { return nil }
    (self.text, authorization) = (shown, "Basic " + Data("\(user):\(password)".utf8).base64EncodedString())
  }

  /// Whether scheme, host and port are the same.
  func hasSameOrigin(as other: Address) -> Bool { scheme == other.scheme && host == other.host }

  /// A text for people that was given as an address. It shows no name and no password, also where the text is no
  /// address.
  public static func shown(_ text: String) -> String {
    if let address = Address(text) { return address.text }
    guard let at = text.lastIndex(of: "@") else { return text }
    let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
    return start < at ? text[..<start] + "…" + text[at...] : text
  }

  /// A name of letters, digits and a few signs, or numbers of IPv6.
  private static func isHost(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || "0123456789-._~:".utf8.contains($0) }
  }

  /// Whether digits stand where a port stands. For `URL` a number that no `Int` can hold is none.
  private static func namesPort(_ url: URL) -> Bool {
    let authority = url.absoluteString.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
    guard let colon = authority.lastIndex(of: ":"), case let digits = authority[colon...].dropFirst() else {
      return false
    }
    return !digits.isEmpty && digits.allSatisfy(\.isNumber)
  }
}
