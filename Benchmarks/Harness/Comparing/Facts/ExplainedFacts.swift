import HarnessWords

/// What a report shows of a file of `explain`. A number without a text was not measured.
struct ExplainedFacts: Encodable {
  struct Activity: Encodable {
    let name: String
    let words: String
    let share: Double
    let text: String
  }

  /// What a part gives that takes 100 ns less: per cent of time, above 0 where time is saved.
  struct Part: Encodable {
    let name: String
    let words: String
    let saving: Double?
    let low: Double?
    let high: Double?
    let text: String
    let even: Double?
    let evenText: String
    let simulated: Double?
    let simulatedText: String
  }

  let benchmark: String
  let params: String
  let subject: String
  let workers: Int
  let activities: [Activity]
  let parts: [Part]

  init(_ file: ExplainedFile) {
    (benchmark, params, subject, workers) = (file.benchmark, file.parameters, file.subject, file.workers)
    func percent(_ value: Double?) -> String { value.map { "\(NumberFormat.significant($0)) %" } ?? "" }
    activities = file.rows.filter { $0.kind == .activity }.map {
      let share = $0.value ?? 0
      return Activity(name: $0.name, words: $0.words, share: share, text: NumberFormat.percent(share))
    }
    parts = file.rows.filter { $0.kind == .part }.map { row in
      let range = row.interval.map { " [\(percent($0.lowerBound)), \(percent($0.upperBound))]" } ?? ""
      return Part(
        name: row.name, words: row.words, saving: row.value, low: row.interval?.lowerBound,
        high: row.interval?.upperBound, text: row.value.map { percent($0) + range } ?? "", even: row.even,
        evenText: percent(row.even), simulated: row.simulated, simulatedText: percent(row.simulated))
    }
  }
}
