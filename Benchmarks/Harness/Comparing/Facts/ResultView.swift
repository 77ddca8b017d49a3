/// A part of the results: without some of the arms.
struct ResultView {
  let results: MeasuredResults
  let arms: Set<Int>

  /// The most changes of strategies that stand among the subjects in pictures of all subjects: a legend of thirty is
  /// none.
  static let mostVariants = 6

  static func whole(_ results: MeasuredResults) -> ResultView {
    ResultView(results: results, arms: Set(results.arms.indices))
  }

  /// What sentences about subjects are about: without the changes of strategies whose default was measured, which are
  /// judged among themselves, and without the workers beyond the CPUs that only such changes are measured with.
  static func defaults(_ results: MeasuredResults) -> ResultView {
    let measured = Set(results.arms.map(\.subject))
    let changes = Set(
      measured.filter { name in results.subjects[name].variant.map { measured.contains($0.base) } ?? false })
    guard !changes.isEmpty else { return .whole(results) }
    // A result of nothing but such workers keeps them.
    let most = max(results.cpus ?? 0, results.arms.map(\.workers).min() ?? 0)
    let kept = results.arms.indices.filter {
      !changes.contains(results.arms[$0].subject) && results.arms[$0].workers <= most
    }
    return ResultView(results: results, arms: Set(kept))
  }

  /// What the pictures of all subjects show: without the changes of strategies, where there are too many of them.
  static func general(_ results: MeasuredResults) -> ResultView {
    variants(results).count <= mostVariants ? .whole(results) : .defaults(results)
  }

  /// The measured subjects with a strategy of their own.
  static func variants(_ results: MeasuredResults) -> [String] {
    results.subjects.all.filter { $0.wasMeasured && $0.variant != nil }.map(\.name)
  }

  var isWhole: Bool { arms.count == results.arms.count }

  /// The lines with a number of the view.
  var lines: [Int] { results.lines.indices.filter { !cells($0).isEmpty } }

  func primaryLines(family: String? = nil) -> [Int] {
    lines.filter { results.isPrimary($0) && (family == nil || results.lines[$0].family == family) }
  }

  /// The arms of the view with a number on a line, in their order.
  func cells(_ line: Int) -> [Int] {
    results.lines[line].cells.keys.map(results.number(of:)).filter(arms.contains).sorted()
  }

  /// Of each subject with a number on a line the widest arm: results of several runs need not have the same workers.
  func mainArms(_ line: Int) -> [Int] { results.widest(cells(line)) }

  /// The arms that stand for their subject on some line.
  var mainArms: [Int] { Set(lines.flatMap(mainArms)).sorted() }

  func base(of arm: Int, on line: Int) -> Int? { results.base(of: arm, among: cells(line)) }
}
