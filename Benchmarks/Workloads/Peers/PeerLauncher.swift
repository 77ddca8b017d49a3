import Glibc
import HarnessMeasuring
import HarnessWords

/// Runs a request in the program of a peer.
package struct PeerLauncher: Sendable {
  private let programs: PeerPrograms

  package init(_ programs: PeerPrograms) { self.programs = programs }

  /// The process of a request, before its start; nil when the subject is not a peer, or when the peer is not built.
  package func launch(_ request: MeasureRequest, environment: [String: String], timeout: Double) -> Launched? {
    guard let program = programs.program(request.subject) else { return nil }
    var process: (launched: Launched, answers: PeerRequest)?
    return Launched {
      do {
        if process == nil {
          let translated = try PeerRequest(request)
          if let search = translated.search {
            return try Self.answer(search, translated, request, program, environment: environment, timeout: timeout)
          }
          process = (
            try Self.launch(
              program, translated.arguments, file: translated.file, environment: environment, timeout: timeout),
            translated
          )
        }
        guard let (launched, translated) = process, let outcome = launched.goOn() else { return nil }
        guard outcome.failure(request.mode) == nil else { return outcome }
        try Self.check(outcome, request)
        return outcome.with(lines: try translated.answer(outcome.lines))
      } catch {
        return ProcessOutcome(
          ending: .exited(0), lines: [ResultLine.failure("\(error)").text], lastWords: nil, nanoseconds: 0)
      }
    }
  }

  private static func check(_ outcome: ProcessOutcome, _ request: MeasureRequest) throws {
    guard let mistake = PeerAnswer.mistake(in: outcome, to: request.mode) else { return }
    throw CheckFailed("the program of \(request.subject) \(mistake)")
  }

  /// A process that has given no answer.
  private struct Failed: Error { let outcome: ProcessOutcome }

  /// Runs a search, and gives its readings as the answer of one process, which took as long as all together.
  private static func answer(
    _ search: ((PeerInput) throws -> [Reading]) throws -> [Reading], _ translated: PeerRequest,
    _ request: MeasureRequest, _ program: String, environment: [String: String], timeout: Double
  ) throws -> ProcessOutcome {
    var nanoseconds: UInt64 = 0
    var usage = ProcessUsage()
    var isOutputHeld = false
    func outcome(_ lines: [String], stoodStill: UInt64 = 0) -> ProcessOutcome {
      ProcessOutcome(
        ending: .exited(0), lines: lines, lastWords: nil, nanoseconds: nanoseconds, stoodStill: stoodStill,
        usage: usage, isOutputHeld: isOutputHeld)
    }
    do {
      let readings = try search { input in
        let asked = try translated.asking(input)
        let one = try launch(
          program, asked.arguments, file: asked.file, environment: environment,
          timeout: max(0.1, timeout - Double(nanoseconds) / 1e9)
        ).toEnd()
        nanoseconds += one.nanoseconds
        usage.add(one.usage)
        isOutputHeld = isOutputHeld || one.isOutputHeld
        // The search is made anew as a whole.
        guard one.stoodStill == 0 else { throw Failed(outcome: outcome([], stoodStill: one.stoodStill)) }
        guard one.failure(request.mode) == nil else { throw Failed(outcome: one) }
        try check(one, request)
        return one.results.compactMap { if case .reading(1, let reading) = $0 { reading } else { nil } }
      }
      return outcome(readings.map { ResultLine.reading(valueIndex: 1, $0).text } + [ResultLine.end.text])
    } catch let failed as Failed {
      return failed.outcome
    } catch {
      return outcome([ResultLine.failure("\(error)").text])
    }
  }

  /// A program, with its file until the program has ended.
  static func launch(
    _ program: String, _ arguments: [String], file: PeerFile?, environment: [String: String] = [:], timeout: Double
  ) throws -> Launched {
    let path = try file.map(temporary)
    let words = arguments + (path.map { ["\(file!.key)=\($0)"] } ?? [])
    let launched = ProcessRunner.launch(program, words, environment: environment, timeout: timeout)
    return Launched {
      let outcome = launched.goOn()
      if outcome != nil, let path { unlink(path) }
      return outcome
    }
  }

  private static func temporary(_ file: PeerFile) throws -> String {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var name = Array("\(folder)/opbench-\(file.key)-XXXXXX".utf8CString)
    let descriptor = mkstemp(&name)
    let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard descriptor >= 0 else {
      throw Complaint(.cannotCreate, "cannot write a file into \(folder): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    try DescriptorOutput.write(file.text, to: descriptor, name: path)
    return path
  }
}
