import HarnessWords

/// Lines of labels and cells, in as many blocks below one another as the width needs.
///
/// When all columns fit beside the whole label, there is one block. Otherwise the parameters get a line of their own.
/// The metric gets a line of its own too when not even one column fits beside the metric.
struct TableBlocks {
  struct Line {
    /// The parameters that the line does not share with its section; empty when the line above has the same.
    let parameters: String
    let metric: String
    /// The number of processes.
    let count: String
    let cells: [TableCell]
  }

  private let headings: [String]
  private let lines: [Line]
  private let width: Int

  init(_ headings: [String], _ lines: [Line], width: Int) {
    (self.headings, self.lines, self.width) = (headings, lines, width)
  }

  /// Which parts of the label are beside the cells.
  private enum Beside: CaseIterable { case all, metric, nothing }

  private struct Labelled {
    let above: [String]
    let beside: [String]
  }

  private func labelled(_ beside: Beside) -> (heading: Labelled, lines: [Labelled]) {
    func label(_ line: Line) -> Labelled {
      switch beside {
      case .all: Labelled(above: [], beside: [line.parameters, line.metric, line.count])
      case .metric: Labelled(above: [line.parameters], beside: ["  " + line.metric, line.count])
      case .nothing:
        Labelled(above: [line.parameters, "  \(line.metric) (n \(line.count))"], beside: ["   "])
      }
    }
    let heading = label(Line(parameters: "", metric: "", count: "n", cells: []))
    return (Labelled(above: [], beside: heading.beside), lines.map(label))
  }

  var text: [String] {
    let columns = headings.indices.map { place in
      TableCell.Column(headings[place], lines.map { $0.cells[place] })
    }
    let widest = columns.map(\.width).max() ?? 0
    let all = columns.reduce(0) { $0 + 2 + $1.width }
    for beside in Beside.allCases {
      let (heading, labels) = labelled(beside)
      let sides = Table.aligned(([heading] + labels).map(\.beside), trimmed: false)
      let side = TextWidth.of(sides[0])
      switch beside {
      case .all where side + all > width && lines.contains { !$0.parameters.isEmpty }: continue
      case .all where side + 2 + widest > width, .metric where side + 2 + widest > width: continue
      default: break
      }
      return blocks(columns, room: width - side).flatMap { block in
        [row(sides[0], block.map { columns[$0].padded(columns[$0].heading) })]
          + lines.indices.flatMap { index in
            labels[index].above.filter { !$0.allSatisfy { $0 == " " } }
              .flatMap { WrappedText.lines($0, width: width, indent: $0.prefix { $0 == " " }.count, hanging: 4) }
              + [row(sides[index + 1], block.map { columns[$0].text(lines[index].cells[$0]) })]
          }
      }
    }
    return []
  }

  /// The columns of each block: as many as there is room for, at least one.
  private func blocks(_ columns: [TableCell.Column], room: Int) -> [[Int]] {
    var blocks: [[Int]] = []
    var left = 0
    for (place, column) in columns.enumerated() {
      if blocks.isEmpty || left < 2 + column.width {
        blocks.append([])
        left = room
      }
      blocks[blocks.count - 1].append(place)
      left -= 2 + column.width
    }
    return blocks
  }

  private func row(_ side: String, _ cells: [String]) -> String {
    WrappedText.trimmed(([side] + cells).joined(separator: "  "))
  }
}
