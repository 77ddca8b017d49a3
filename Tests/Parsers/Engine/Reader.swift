import FoundationEssentials
import HarnessWords

/// One reader of what comes from outside the program, and what it is fuzzed with.
public struct Reader: Sendable, CustomStringConvertible {
  public let name: String
  /// Words of the format, for mutations to put in.
  public let tokens: [String]
  private let read: @Sendable ([UInt8]) throws -> Void

  public var description: String { name }

  init(_ name: String, tokens: [String], _ read: @escaping @Sendable ([UInt8]) throws -> Void) {
    (self.name, self.tokens, self.read) = (name, tokens, read)
  }

  /// The property: any bytes give a value, or one complaint of one line. In words what is wrong; nil when it holds.
  ///
  /// Crashes, hangs and memory without bounds are for the fuzzer to notice.
  public func objection(to bytes: [UInt8]) -> String? {
    do {
      try read(bytes)
      return nil
    } catch let complaint as Complaint {
      return Self.objection(to: complaint.description)
    } catch {
      return "throws \(type(of: error)), which is no complaint: \(error)"
    }
  }

  /// What is wrong with a message to the user; nil when it is one line.
  public static func objection(to message: String) -> String? {
    if message.allSatisfy(\.isWhitespace) { return "its message is empty" }
    if message.contains(where: \.isNewline) { return "its message has more than one line: \(message)" }
    return nil
  }

  /// Committed inputs: small ones of every kind, and those that found something.
  public var corpus: [(file: String, bytes: [UInt8])] {
    let folder = "\(Self.corpusFolder)/\(name)"
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return files.sorted().compactMap { file in
      FileManager.default.contents(atPath: "\(folder)/\(file)").map { (file, Array($0)) }
    }
  }

  public static let corpusFolder = "\(#filePath.dropLast("Parsers/Engine/Reader.swift".count))Corpora/Parsers"
}
