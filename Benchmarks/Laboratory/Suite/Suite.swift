import HarnessGate
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// The measurements of a program. The laboratory plans, runs, validates, compares and gates. A suite lists the cells,
/// and prepares one cell in the process that measures the cell.
package protocol Suite: Sendable {
  /// The name of the program in messages and results.
  var name: String { get }
  /// All subjects, the reference included, in the order of the pictures.
  var subjects: [SubjectFacts] { get }
  /// The subject with which the others are compared.
  var reference: String { get }
  /// The option of `run` that chooses subjects.
  var subjectOption: String { get }
  /// The names of the benchmarks, for completions.
  var benchmarkNames: [BenchmarkName] { get }
  /// The cells that the gate measures.
  var gated: [GatedCell] { get }
  /// The facts of the metrics that the laboratory does not know.
  var metricFacts: [Metric: MetricFacts] { get }
  /// Records operations; nil when the program cannot record.
  var tracer: Tracer? { get }
  /// A file of the checkout from which the suite was built.
  var source: String { get }
  /// How the rows of the program's results read, for `merge`: what is measured first.
  var rowForms: [any RowForm.Type] { get }
  /// The experiment with which `validate` shows that the laboratory's numbers can be trusted.
  var experiment: Experiment { get }

  /// Prepares a cell in this process; nil when there is no such cell. Only the suite interprets the request's context.
  func trial(_ request: MeasureRequest) throws -> Trial?
  /// The process that measures a cell, before its start. It may go on for `timeout` seconds.
  func launch(_ request: MeasureRequest, environment: [String: String], timeout: Double) -> Launched
  /// The compiler and library of each subject that is a program of another language, by subject.
  func versions(of subjects: Set<String>) throws -> [String: String]
  /// The versions that the results published with the program name, by subject; empty without such results.
  var publishedVersions: [String: String] { get }
}

extension Suite {
  package var metricFacts: [Metric: MetricFacts] { [:] }

  package var subjectOption: String { "--backend" }

  package var tracer: Tracer? { nil }

  package var rowForms: [any RowForm.Type] { [MeasuredRows.self] }

  package func launch(_ request: MeasureRequest, environment: [String: String], timeout: Double) -> Launched {
    ProcessRunner.launch(request, environment: environment, timeout: timeout)
  }

  /// Runs the process that measures a cell.
  package func measure(_ request: MeasureRequest, environment: [String: String], timeout: Double) -> ProcessOutcome {
    launch(request, environment: environment, timeout: timeout).toEnd()
  }

  package func versions(of subjects: Set<String>) -> [String: String] { [:] }

  package var publishedVersions: [String: String] { [:] }
}

/// A program with the laboratory's commands.
package protocol SuiteProgram: SendableMetatype {
  static var suite: any Suite { get }
}
