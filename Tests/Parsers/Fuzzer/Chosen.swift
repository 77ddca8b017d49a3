import Glibc
import ParserEngine

/// The reader that the command line names, and its options.
enum Chosen {
  static let reader = reader(at: 1)

  static func reader(at place: Int) -> Reader {
    let name = CommandLine.arguments.count > place ? CommandLine.arguments[place] : ""
    guard let reader = Reader.all.first(where: { $0.name == name }) else {
      print("there is no reader '\(name)'; there are \(Reader.all.map(\.name).joined(separator: ", "))")
      exit(64)
    }
    return reader
  }

  /// Bytes outside of ASCII and control characters as `\xAB`.
  static func escaped(_ token: String) -> String {
    token.utf8.map { byte in
      let isPlain = (32..<127).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
      let digits = String(byte, radix: 16)
      return isPlain ? String(UnicodeScalar(byte)) : "\\x" + (digits.count < 2 ? "0" : "") + digits
    }.joined()
  }

  private static func option(_ name: String, _ value: Int) -> Int {
    CommandLine.arguments.lazy.compactMap { $0.hasPrefix("\(name)=") ? Int($0.dropFirst(name.count + 1)) : nil }.first
      ?? value
  }

  /// Without libFuzzer.
  static func mutate() {
    let inputs = option("-runs", 1_000_000)
    let seed = option("-seed", 1)
    if let (objection, input) = reader.fuzz(inputs: inputs, seed: UInt64(bitPattern: Int64(seed))) {
      print("\(reader): \(objection)\ninput: \(String(decoding: input, as: UTF8.self).debugDescription)")
      exit(1)
    }
    print("\(reader): \(inputs) mutations, seed \(seed): nothing found")
  }
}
