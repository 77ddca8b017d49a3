import Glibc
import ParserEngine

// ParserFuzzer --list            prints the names of all readers
// ParserFuzzer --tokens NAME     prints the words of its format, as libFuzzer takes a dictionary
// ParserFuzzer NAME [option …]   hands the reader to libFuzzer, with its options, where it was linked with libFuzzer;
//                                otherwise runs -runs=N mutations of the corpus, drawn from -seed=N

switch CommandLine.arguments.dropFirst().first {
case "--list": print(Reader.all.map(\.name).joined(separator: "\n"))
case "--tokens": for token in Chosen.reader(at: 2).tokens { print("\"\(Chosen.escaped(token))\"") }
case .some: LibFuzzer.run() ?? Chosen.mutate()
case nil:
  print("ParserFuzzer takes the name of a reader: \(Reader.all.map(\.name).joined(separator: ", "))")
  exit(64)
}
