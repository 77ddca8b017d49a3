/// What opbench's runs give to their measuring processes beside the cells: the files that `dependencies/replay` replays.
package struct RunContext: Hashable, Sendable {
  package let graphs: [String]

  package init(graphs: [String]) { self.graphs = graphs }

  /// A path per line, which no path that one types holds.
  package init(_ text: String) { graphs = text.split(separator: "\n").map(String.init) }

  package var text: String { graphs.joined(separator: "\n") }
}
