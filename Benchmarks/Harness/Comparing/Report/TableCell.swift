import HarnessMeasuring
import HarnessWords

/// The cell of one arm on a line of the table, as text.
struct TableCell {
  /// Empty when the cell has no ratio.
  let ratio: String
  /// The number that the ratio is made from, or why there is no number.
  let number: String

  static func plain(_ text: String) -> TableCell { TableCell(ratio: "", number: text) }

  private init(ratio: String, number: String) {
    self.ratio = ratio
    self.number = number
  }

  /// `isCompared` says that other cells of the line have a ratio. The reader then looks at the intervals of the ratios,
  /// so this cell shows no interval.
  init(_ cell: TableLine.Cell, _ metric: Metric, isCompared: Bool) {
    let format = NumberFormat(metric.unit, cell.estimate.median)
    let median = format.text(cell.estimate.median)
    let interval = cell.estimate.interval
    if metric.isDifference, let interval, interval.contains(0) {
      self = .plain("< \(format.format(interval.upperBound))\(format.suffix)")
    } else if let ratio = cell.ratio {
      self.init(ratio: NumberFormat.ratio(ratio.median, ratio.interval) + (ratio.isRough ? "~" : ""), number: median)
    } else if isCompared {
      self = .plain(median)
    } else {
      self = .plain(format.text(cell.estimate.median, interval))
    }
  }

  /// A column of cells: the ratios below one another, with the numbers behind them.
  struct Column {
    let heading: String
    private let ratios: Int
    private let numbers: Int
    let width: Int

    init(_ heading: String, _ cells: [TableCell]) {
      self.heading = heading
      let compared = cells.filter { !$0.ratio.isEmpty }
      ratios = compared.map { TextWidth.of($0.ratio) }.max() ?? 0
      numbers = compared.map { TextWidth.of($0.number) }.max() ?? 0
      let both = ratios + (ratios > 0 ? 2 : 0) + numbers
      width = ([TextWidth.of(heading), both] + cells.map { $0.ratio.isEmpty ? TextWidth.of($0.number) : 0 }).max() ?? 0
    }

    func text(_ cell: TableCell) -> String {
      guard !cell.ratio.isEmpty else { return padded(cell.number) }
      let room = ratios + 2 + numbers - TextWidth.of(cell.number)
      return padded(TextWidth.padded(cell.ratio, to: room) + cell.number)
    }

    func padded(_ text: String) -> String { TextWidth.padded(text, to: width) }
  }
}
