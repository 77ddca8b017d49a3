import Glibc
import ParserEngine

/// LLVM's fuzzer, guided by coverage, where this program was built with it: `-sanitize=fuzzer`.
enum LibFuzzer {
  private typealias Input = @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
  private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private typealias Driver =
    @convention(c) (UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Arguments>, Input) -> Int32

  /// Does not return, except with nil where the program was built without.
  static func run() -> Void? {
    guard let symbol = dlsym(nil, "LLVMFuzzerRunDriver") else { return nil }
    let driver = unsafeBitCast(symbol, to: Driver.self)
    _ = Chosen.reader
    // Without the reader's name.
    let arguments = [CommandLine.arguments[0]] + CommandLine.arguments.dropFirst(2)
    let list = Arguments.allocate(capacity: arguments.count + 1)
    for (place, argument) in arguments.enumerated() { list[place] = strdup(argument) }
    list[arguments.count] = nil
    var count = Int32(arguments.count)
    var start = list
    exit(
      driver(&count, &start) { bytes, count in
        let input = Array(UnsafeBufferPointer(start: bytes, count: count))
        // The fuzzer keeps the input that a process dies of.
        if let objection = Chosen.reader.objection(to: input) { fatalError("\(Chosen.reader): \(objection)") }
        return 0
      })
  }
}
