/// What opbench gives to its measuring processes beside the cells: the files that `dependencies/replay` replays.
package struct RunContext: Hashable, Sendable {
  package let graphs: [String]

  package init(graphs: [String]) { self.graphs = graphs }

  /// One path per line. A path that a user types has no line break.
  package init(_ text: String) { graphs = text.split(separator: "\n").map(String.init) }

  package var text: String { graphs.joined(separator: "\n") }
}
