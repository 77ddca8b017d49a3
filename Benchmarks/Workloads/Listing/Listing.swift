import HarnessWords
import Subjects

/// The subjects and benchmarks that can be measured, or the ones that the user asked for.
package struct Listing: Sendable {
  package let subjects: [SubjectInfo]
  package let benchmarks: [BenchmarkChoice]
  let peers: PeerPrograms

  /// A listing of everything.
  package init(_ catalogue: Catalogue, peers: PeerPrograms = .found()) throws {
    subjects = SubjectRegistry.all
    benchmarks = try BenchmarkChoice.all(catalogue, matching: nil, option: "list")
    self.peers = peers
  }

  /// The subject of that name; without such a subject, the benchmarks that `--benchmark` would choose.
  package init(_ catalogue: Catalogue, matching text: String, peers: PeerPrograms = .found()) throws {
    subjects = SubjectRegistry.all.filter { $0.name == text }
    let names = SubjectRegistry.all.map(\.name)
    benchmarks =
      subjects.isEmpty ? try BenchmarkChoice.all(catalogue, matching: text, option: "list", others: names) : []
    self.peers = peers
  }

  /// The families of benchmarks, in the order of the catalogue.
  var families: [(name: String, benchmarks: [BenchmarkChoice])] {
    benchmarks.reduce(into: []) { families, choice in
      let family = choice.workload.name.family
      if let index = families.firstIndex(where: { $0.name == family }) {
        families[index].benchmarks.append(choice)
      } else {
        families.append((family, [choice]))
      }
    }
  }

  /// The words beside the name of a peer: its version, or how to get it. Nil for other subjects.
  func program(_ subject: SubjectInfo) -> String? {
    guard subject.role == .peer else { return nil }
    do {
      return try peers.version(subject.name) ?? PeerPrograms.advice(subject.name)
    } catch {
      return "\(error)"
    }
  }

  /// The subjects that have empty cells with these parameters, by the reason.
  static func empty(_ workload: any Workload, _ parameters: Parameters = [:]) -> [(reason: String, names: [String])] {
    SubjectRegistry.all.reduce(into: []) { reasons, subject in
      guard let reason = workload.obstacle(subject, parameters) else { return }
      if let index = reasons.firstIndex(where: { $0.reason == reason }) {
        reasons[index].names.append(subject.name)
      } else {
        reasons.append((reason, [subject.name]))
      }
    }
  }
}
