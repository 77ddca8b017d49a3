import Harness

/// What a program measures. The laboratory plans, runs, validates, compares and gates; a suite says what there is, and makes
/// one cell ready in the process that measures it.
package protocol Suite: Sendable {
  /// What messages and results call the program.
  var name: String { get }
  /// Everything that can be measured, the reference included, in the order in which pictures show it.
  var subjects: [SubjectFacts] { get }
  /// The subject that the others are compared with.
  var reference: String { get }
  /// For completions: family and benchmark.
  var benchmarkNames: [BenchmarkName] { get }
  /// What the gate holds.
  var gated: [GatedCell] { get }
  /// Records operations, where the program can.
  var tracer: Tracer? { get }
  /// A file of the checkout that the suite was built from.
  var source: String { get }
  /// What `validate` measures to show that the laboratory can be believed.
  var experiment: Experiment { get }

  /// Makes a cell ready in this process; nil when there is no such cell. The suite alone interprets the request's context.
  func trial(_ request: MeasureRequest) throws -> Trial?
  /// Starts the process that measures a cell, and waits for it.
  func launch(_ request: MeasureRequest, environment: [String: String], timeout: Double) -> ProcessOutcome
  /// The compiler and library of subjects that are programs of other languages, by subject.
  func versions(of subjects: Set<String>) -> [String: String]
}

extension Suite {
  package var tracer: Tracer? { nil }

  package func launch(_ request: MeasureRequest, environment: [String: String], timeout: Double) -> ProcessOutcome {
    ProcessRunner.measure(request, environment: environment, timeout: timeout)
  }

  package func versions(of subjects: Set<String>) -> [String: String] { [:] }
}

/// A program that the laboratory's commands belong to.
package protocol SuiteProgram: SendableMetatype {
  static var suite: any Suite { get }
}
