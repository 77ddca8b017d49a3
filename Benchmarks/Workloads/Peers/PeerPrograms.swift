import Glibc
import HarnessMeasuring
import HarnessWords
import Subjects

/// The places of the programs of the peers, as `scripts/peers` builds them.
package struct PeerPrograms: Sendable {
  /// Not a default argument of `found`, because `#filePath` would then be the file of the caller.
  private static let source = #filePath

  let folders: [String]

  package init(folders: [String]) { self.folders = folders }

  /// `.build/peers`, as seen from the build folder of this program, or from the checkout from which this program was
  /// built.
  package static func found() -> PeerPrograms {
    let ancestors = sequence(first: ownPath, next: parent).dropFirst().prefix(4)
    // Benchmarks/Workloads/Peers/PeerPrograms.swift is four levels below the checkout.
    let checkout = Array(sequence(first: source, next: parent).prefix(5)).last ?? ""
    return PeerPrograms(folders: ancestors.map { "\($0)/peers" } + ["\(checkout)/.build/peers"])
  }

  /// The program of a peer, which is the same for all strategies; nil when it is not built.
  package func program(_ peer: String) -> String? {
    let subject = SubjectVariant.subject(of: peer)
    if let guest = Peer.named(subject)?.program { return guest }
    return folders.lazy.map { "\($0)/\(subject)" }.first { access($0, X_OK) == 0 }
  }

  /// The compiler and library of a peer, as its program names them; nil when the program is not built. Throws when it
  /// speaks another version of the protocol.
  package func version(_ peer: String) throws -> String? {
    guard let program = program(peer) else { return nil }
    do {
      return try PeerIntroduction(of: program).version
    } catch {
      let name = SubjectVariant.subject(of: peer)
      let isGuest = Peer.named(name)?.program != nil
      throw Complaint(
        .unavailable,
        "\(program) \(error): "
          + (isGuest
            ? "opbench peer-check \(program) says what it lacks" : "delete it, and \(Self.builder(name)) makes it anew")
      )
    }
  }

  /// Has a program of the user's be a peer, as `NAME=PROGRAM` says. Returns the name.
  package static func welcome(_ text: String) throws -> String {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2, parts[0].wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9.-]*/) != nil else {
      throw Complaint(.usage, "--peer takes a name and a program, such as python=./peer.py; not '\(text)'")
    }
    guard !SubjectRegistry.all.contains(where: { $0.name == parts[0] }), parts[0] != "all" else {
      throw Complaint(.usage, "--peer \(text): there is a subject '\(parts[0])' already; take another name")
    }
    guard let place = realpath(parts[1], nil), access(place, X_OK) == 0 else {
      throw Complaint(.noInput, "--peer \(text): there is no program \(parts[1])")
    }
    defer { free(place) }
    let program = String(cString: place)
    do {
      let said = try PeerIntroduction(of: program)
      Peer.welcome(said.peer(parts[0], program: program))
    } catch {
      throw Complaint(.unavailable, "--peer \(text): it \(error): opbench peer-check \(parts[1]) says what it lacks")
    }
    return parts[0]
  }

  /// Says how to build a peer that is not built.
  package static func advice(_ peer: String) -> String {
    let name = SubjectVariant.subject(of: peer)
    let needs = Peer.all.first { $0.name == name }.map { ", which needs \($0.packages)" } ?? ""
    return "\(name) is not built: run \(builder(name))\(needs)"
  }

  /// The command that builds a peer.
  private static func builder(_ name: String) -> String {
    "scripts/peers " + (Peer.named(name)?.needsCheckout == true ? "--from \(name)=FOLDER" : name)
  }

  private static func parent(_ path: String) -> String? {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
    return String(path[..<slash])
  }

  private static var ownPath: String {
    var text = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &text, text.count - 1)
    return String(decoding: text[..<max(length, 0)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
