import HarnessStatistics
import HarnessWords

/// What was simulated: every strategy on every graph, what limits it, which strategies change places, and METG.
struct SimulatedFacts: Encodable {
  /// Few and many workers, what strategies are compared on, or sweeps of granularities alone.
  enum Shown: String, Encodable { case compared, sweeps }

  /// The numbers of a strategy at a number of workers: medians over the seeds, and the least and the most efficiency.
  struct Mark: Encodable {
    let workers: Int
    let n: Int
    let efficiency: Double
    let least: Double
    let most: Double
    /// Shares of the makespan.
    let work: Double
    let criticalPath: Double
    let scheduler: Double
    let makespan: Double
  }

  struct Run: Encodable {
    let backend: String
    let marks: [Mark]
  }

  struct Work: Encodable {
    let work: Double
    let workText: String
    let runs: [Run]
  }

  struct Graph: Encodable {
    let graph: String
    let sizes: String
    let title: String
    let works: [Work]
  }

  /// The makespan over that of the default: the geometric means over all graphs, one for each seed.
  struct Ratios: Encodable {
    let ratios: [Double]
    /// The one in the middle.
    let value: Double
    let least: Double
    let most: Double
    let n: Int
    let text: String
    /// Better or worse where all seeds say so.
    let verdict: String
  }

  struct Move: Encodable {
    let backend: String
    let few: Ratios?
    let many: Ratios?
  }

  struct Change: Encodable {
    let backend: String
    let from: String
    let to: String
  }

  struct Threshold: Encodable {
    let workers: Int
    /// In per cent.
    let level: Int
    /// `crosses`, `never reached`, `never lost`, or `impossible`.
    let outcome: String
    /// In nanoseconds.
    let at: Double?
    let text: String
  }

  struct Sweep: Encodable {
    struct Row: Encodable {
      let backend: String
      let cells: [Threshold]
    }

    let graph: String
    let sizes: String
    let title: String
    let workers: [Int]
    let rows: [Row]
  }

  let models: [String]
  /// A difference smaller than this is none, whatever the seeds say.
  let margin: Double
  let marginText: String
  let backends: [String]
  let shown: Shown
  /// The default strategy, with which the others are compared, or the first strategy where no default was simulated.
  let base: String
  let hasDefault: Bool
  /// The base, then the strategies that differ most from it with many workers, then the others.
  let order: [String]
  let workers: [Int]
  let few: Int
  let many: Int
  let graphs: [Graph]
  let moves: [Move]?
  let changed: [Change]
  let sweeps: [Sweep]
}

extension SimulatedFacts {
  /// Other things than the model are not known better.
  private static let differenceThatCounts = 0.02
  /// A graph that has this number of granularities was simulated to find METG.
  private static let granularitiesOfSweep = 5
  private static let level = 50

  /// What all strategies run: a graph at a granularity, on a number of workers.
  private struct Place: Hashable {
    let graph: String
    let sizes: String
    let work: Double
    let workers: Int

    var title: String {
      sizes.isEmpty ? graph : "\(graph) (\(sizes.split(separator: ";").joined(separator: ", ")))"
    }
  }

  /// Rows by place, strategy and seed, in order of first appearance.
  private struct Table {
    private(set) var places: [Place] = []
    private(set) var backends: [String] = []
    /// The strategies of each place, in order of first appearance.
    private var order: [(place: Place, backend: String)] = []
    private var runs: [Place: [String: [SimulatedFile.Row]]] = [:]

    mutating func add(_ row: SimulatedFile.Row, of path: String) throws {
      let place = Place(graph: row.graph, sizes: row.sizes, work: row.work, workers: row.workers)
      if runs[place] == nil { places.append(place) }
      if !backends.contains(row.backend) { backends.append(row.backend) }
      if runs[place]?[row.backend] == nil { order.append((place, row.backend)) }
      guard runs[place]?[row.backend]?.contains(where: { $0.seed == row.seed }) != true else {
        throw Complaint(.badInput, "\(path): a second row for \(row.backend) with seed \(CSV.number(row.seed))")
      }
      runs[place, default: [:]][row.backend, default: []].append(row)
    }

    subscript(place: Place, backend: String) -> [SimulatedFile.Row] { runs[place]?[backend] ?? [] }

    func only(_ isWanted: (Place) -> Bool) -> Table {
      var part = self
      part.places = places.filter(isWanted)
      part.order = order.filter { isWanted($0.place) }
      part.backends = []
      for (_, name) in part.order where !part.backends.contains(name) { part.backends.append(name) }
      return part
    }

    var workers: [Int] { Set(places.map(\.workers)).sorted() }

    /// The geometric means over all places of the makespan by that of the base: one for each seed, in order.
    func ratios(_ backend: String, over base: String, workers: Int) -> Ratios? {
      var ofSeeds: [Double: [Double]] = [:]
      for place in places where place.workers == workers {
        for row in self[place, backend] {
          guard let other = self[place, base].first(where: { $0.seed == row.seed }) else { continue }
          ofSeeds[row.seed, default: []].append(row.makespan / other.makespan)
        }
      }
      let ratios = ofSeeds.values.compactMap { Statistics.geometricMean($0) }.sorted()
      guard let least = ratios.first, let most = ratios.last else { return nil }
      let value = ratios[ratios.count / 2]
      return Ratios(
        ratios: ratios, value: value, least: least, most: most, n: ratios.count,
        text: NumberFormat.ratio(value, least...most), verdict: SimulatedFacts.verdict(least, most).judged)
    }
  }

  /// A verdict is in where all seeds agree.
  private static func verdict(_ least: Double, _ most: Double) -> Verdict {
    let margin = differenceThatCounts
    if most < 1 - margin { return .less }
    if least > 1 + margin { return .more }
    return least >= 1 - margin && most <= 1 + margin ? .same : .open
  }

  init(_ files: [SimulatedFile]) throws {
    var table = Table()
    var models: [String] = []
    for file in files {
      for row in file.rows {
        try table.add(row, of: file.path)
        if !models.contains(row.model) { models.append(row.model) }
      }
    }
    let grains = Dictionary(grouping: table.places) { [$0.graph, $0.sizes] }.mapValues { Set($0.map(\.work)).count }
    let isSweep = { (place: Place) in grains[[place.graph, place.sizes]]! >= Self.granularitiesOfSweep }
    let compared = table.only { !isSweep($0) }
    let swept = table.only(isSweep)
    let shown = compared.places.isEmpty ? swept : compared
    self.models = models
    margin = Self.differenceThatCounts
    marginText = "\(NumberFormat.general(100 * margin, digits: 6)) %"
    backends = shown.backends
    self.shown = compared.places.isEmpty ? .sweeps : .compared
    let plain = shown.backends.first { !$0.contains("(") }
    let base = plain ?? shown.backends[0]
    (self.base, hasDefault) = (base, plain != nil)
    workers = shown.workers
    let (few, many) = (workers.contains(2) ? 2 : workers[0], workers[workers.count - 1])
    (self.few, self.many) = (few, many)
    let others = shown.backends.filter { $0 != base }
    let moves = others.map { backend in
      Move(
        backend: backend, few: shown.ratios(backend, over: base, workers: few),
        many: shown.ratios(backend, over: base, workers: many))
    }
    order = [base] + Self.mostDifferent(moves) + moves.filter { $0.many == nil }.map(\.backend)
    self.moves = compared.places.isEmpty || others.isEmpty ? nil : moves
    changed = moves.compactMap { move in
      guard let from = move.few?.verdict, let to = move.many?.verdict, from != "open", to != "open", from != to else {
        return nil
      }
      return Change(backend: move.backend, from: from, to: to)
    }
    graphs = Self.graphs(shown)
    sweeps = Self.sweeps(swept)
  }

  /// The strategies with a ratio at many workers, the farthest from 1 first; a ratio and its inverse are as far.
  private static func mostDifferent(_ moves: [Move]) -> [String] {
    func distance(_ ratio: Double) -> Double { ratio > 1 ? ratio - 1 : 1 / ratio - 1 }
    let known = moves.compactMap { move in move.many.map { (backend: move.backend, distance: distance($0.value)) } }
    return known.enumerated().sorted {
      $0.element.distance == $1.element.distance
        ? $0.offset < $1.offset : $0.element.distance > $1.element.distance
    }.map(\.element.backend)
  }

  private static func graphs(_ table: Table) -> [Graph] {
    var groups: [(first: Place, places: [Place])] = []
    for place in table.places {
      if let found = groups.firstIndex(where: { $0.first.graph == place.graph && $0.first.sizes == place.sizes }) {
        groups[found].places.append(place)
      } else {
        groups.append((place, [place]))
      }
    }
    return groups.map { first, places in
      let works = Set(places.map(\.work)).sorted().map { work in
        let own = places.filter { $0.work == work }.sorted { $0.workers < $1.workers }
        return Work(
          work: work, workText: workText(work),
          runs: table.backends.compactMap { backend in
            let marks = own.compactMap { mark(table[$0, backend], workers: $0.workers) }
            return marks.isEmpty ? nil : Run(backend: backend, marks: marks)
          })
      }
      return Graph(graph: first.graph, sizes: first.sizes, title: first.title, works: works)
    }
  }

  /// A round time without digits that say nothing: `10 µs`.
  private static func workText(_ work: Double) -> String {
    let format = NumberFormat("ns", work)
    return NumberFormat.general(Double(format.format(work))!, digits: 6) + format.suffix
  }

  private static func mark(_ rows: [SimulatedFile.Row], workers: Int) -> Mark? {
    guard !rows.isEmpty else { return nil }
    func median(_ value: (SimulatedFile.Row) -> Double) -> Double { Statistics.median(rows.map(value)) }
    let makespan = median(\.makespan)
    let efficiencies = rows.map(\.efficiency)
    let shares = (0..<3).map { limit in median { $0.limits[limit] } / makespan }
    return Mark(
      workers: workers, n: rows.count, efficiency: median(\.efficiency), least: efficiencies.min()!,
      most: efficiencies.max()!, work: shares[0], criticalPath: shares[1], scheduler: shares[2], makespan: makespan)
  }

  /// METG of the medians over the seeds at each granularity, for each graph, strategy and number of workers.
  private static func sweeps(_ table: Table) -> [Sweep] {
    var titles: [Place] = []
    for place in table.places where !titles.contains(where: { $0.title == place.title }) { titles.append(place) }
    return titles.map { first in
      let places = table.places.filter { $0.title == first.title }
      let workers = Set(places.map(\.workers)).sorted()
      let rows = table.backends.compactMap { backend -> Sweep.Row? in
        let cells = workers.compactMap { count in
          threshold(places.filter { $0.workers == count }.map { (table[$0, backend], count) }.filter { !$0.0.isEmpty })
        }
        return cells.isEmpty ? nil : Sweep.Row(backend: backend, cells: cells)
      }
      return Sweep(graph: first.graph, sizes: first.sizes, title: first.title, workers: workers, rows: rows)
    }
  }

  private static func threshold(_ runs: [(rows: [SimulatedFile.Row], workers: Int)]) -> Threshold? {
    guard let workers = runs.first?.workers else { return nil }
    let points = runs.map { rows, workers in
      METG.Point(
        granularity: Statistics.median(rows.map(\.makespan)) * Double(workers) / rows[0].tasks,
        efficiency: Statistics.median(rows.map(\.utilisation)))
    }
    let outcome = try? METG.find(Double(level) / 100, points)
    let at: Double? = if case .crosses(let granularity, _)? = outcome { granularity } else { nil }
    return Threshold(
      workers: workers, level: level, outcome: outcome?.name ?? "impossible", at: at, text: METG.text(outcome))
  }
}
