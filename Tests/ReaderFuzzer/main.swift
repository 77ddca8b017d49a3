import Glibc
import ReaderFuzzing

// ReaderFuzzer --list            prints the names of all readers
// ReaderFuzzer --tokens NAME     prints the words of its format, as libFuzzer takes a dictionary
// ReaderFuzzer NAME [option …]   hands the reader to libFuzzer, with its options, where it was linked with libFuzzer;
//                                otherwise runs -runs=N mutations of the corpus, drawn from -seed=N

switch CommandLine.arguments.dropFirst().first {
case "--list": print(Reader.all.map(\.name).joined(separator: "\n"))
case "--tokens": for token in Chosen.reader(at: 2).tokens { print("\"\(Chosen.escaped(token))\"") }
case .some: LibFuzzer.run() ?? Chosen.mutate()
case nil:
  print("ReaderFuzzer takes the name of a reader: \(Reader.all.map(\.name).joined(separator: ", "))")
  exit(64)
}
