import DifferentialEngine
import TestSupport

/// The command line.
struct RunnerOptions {
  var settings = DifferentialSettings()
  var backends: [String] = []
  var replayed: String?
  var times = 100
  /// The choices of the order in which a program is replayed.
  var schedule: [Int]?
  var showsJournal = false
  var features = "all"
  /// No process of its own for each backend.
  var isInProcess = false
  /// The programs are printed, not run.
  var prints = false
  /// Exits with 3 when a replay fails in this category.
  var expected: String?

  static let usage = """
    DifferentialRunner [--backend NAME]... [--programs N] [--seed S] [--seconds T] [--features LIST] [--slow MS]
      [--failures N] [--patience T] [--no-shrink] [--journal] [--in-process] [--print]
      [--replay FILE [--times N | --schedule "CHOICES"]]
    LIST: all, none, or names with commas, a minus before what is left out: \
    \(Features.names.map(\.name).joined(separator: " "))
    """

  /// `--help` was asked for.
  struct Help: Error {}

  struct Misuse: Error {
    let text: String
  }

  init(_ words: [String]) throws {
    var words = words[...]
    func value<Value>(_ option: String, _ read: (String) -> Value?) throws -> Value {
      guard let word = words.popFirst(), let value = read(word) else { throw Misuse(text: "\(option) needs a value") }
      return value
    }
    while let option = words.popFirst() {
      switch option {
      case "--backend": backends.append(try value(option) { $0 })
      case "--programs": settings.programs = try value(option) { Int($0) }
      case "--seed": settings.seed = try value(option) { UInt64($0) }
      case "--seconds": settings.seconds = try value(option) { Double($0) }
      case "--features":
        features = try value(option) { $0 }
        guard let chosen = Features(features) else {
          throw Misuse(text: "no such features: \(features)\n\(Self.usage)")
        }
        settings.features = chosen
      case "--print": prints = true
      case "--in-process": isInProcess = true
      case "--expect": expected = try value(option) { $0 }
      case "--mark": settings.mark = try value(option) { SeedMark($0) }
      case "--slow": settings.slowLimit = try value(option) { Double($0) } / 1_000
      case "--failures": settings.mostFailures = try value(option) { Int($0) }
      case "--patience": settings.patience = try value(option) { Double($0) }
      case "--replay": replayed = try value(option) { $0 }
      case "--schedule":
        schedule = try value(option) { text in
          let words = text.split(separator: " ")
          let choices = words.compactMap { Int($0) }
          return choices.count == words.count ? choices : nil
        }
        backends = ["deterministic"]
      case "--times": times = try value(option) { Int($0) }
      case "--no-shrink": settings.shrinks = false
      case "--journal": showsJournal = true
      case "--help": throw Help()
      default: throw Misuse(text: "unknown option \(option)\n\(Self.usage)")
      }
    }
    if let unknown = backends.first(where: { name in !allBackends.contains { $0.name == name } }) {
      let names = allBackends.map(\.name).joined(separator: ", ")
      throw Misuse(text: "there is no backend \"\(unknown)\"; there are \(names)")
    }
  }
}
