import CPlatform
import TestSupport
import Testing

/// As `Join.swift` declares the function.
@_silgen_name("cplatform_fork_push")
private func pushFork(_ body: () -> Void) -> UnsafeMutablePointer<cplatform_fork>?

/// `join` keeps a closure that does not escape as the two words that Swift passes to a C function. Swift promises
/// neither the two words nor their meaning. These tests fail when a compiler passes a closure in another way.
@Suite("A closure is two words")
struct ClosureWordsTests {
  /// Uses the closure, so that its context lives until here.
  @inline(never) @_optimize(none)
  private static func use(_ body: () -> Void) {}

  /// Runs a closure from its two words, on this thread and on another one.
  @inline(never)
  private static func runFromWords(_ body: () -> Void) throws {
    // A list is never given back.
    let list = try #require(cplatform_forks_make())
    list.pointee.launch = cplatform_frame()
    let outer = cplatform_forks_here()
    cplatform_set_forks(list)
    let fork = pushFork(body)
    cplatform_set_forks(outer)
    let pushed = try #require(fork)
    #expect(list.pointee.next == pushed + 1)
    cplatform_fork_run(pushed)
    let address = UInt(bitPattern: pushed)
    try inTime("the closure on another thread") {
      if let fork = UnsafeMutablePointer<cplatform_fork>(bitPattern: address) { cplatform_fork_run(fork) }
    }
    use(body)
  }

  @Test("a closure without captured values")
  func noCapture() throws {
    try Self.runFromWords { Self.calls.increment() }
    #expect(Self.calls.value == 2)
  }

  private static let calls = Counter()

  @Test("a closure with a captured reference, variable or parameter")
  func oneCapture() throws {
    let counter = Counter()
    try Self.runFromWords { counter.increment() }
    #expect(counter.value == 2)
    var number = 0
    try Self.runFromWords { number += 1 }
    #expect(number == 2)
    try add(3, to: &number)
    #expect(number == 8)
  }

  private func add(_ step: Int, to number: inout Int) throws { try Self.runFromWords { number += step } }

  @Test("a closure with many captured values")
  func manyCaptures() throws {
    let wide = (1, 2.5, "three", [4, 5], UInt8(6), Optional(7), (8, 9))
    let counter = Counter()
    var log: [String] = []
    try Self.runFromWords {
      counter.increment()
      log.append("\(wide.0) \(wide.1) \(wide.2) \(wide.3) \(wide.4) \(wide.5 ?? 0) \(wide.6)")
    }
    #expect(counter.value == 2)
    #expect(log == Array(repeating: "1 2.5 three [4, 5] 6 7 (8, 9)", count: 2))
  }

  @Test("a closure in a generic function")
  func generic() throws {
    #expect(try collect(17) == [17, 17])
    #expect(try collect("text") == ["text", "text"])
    #expect(try collect([1.5, 2.5]) == [[1.5, 2.5], [1.5, 2.5]])
  }

  @inline(never) @_semantics("optimize.sil.specialize.generic.never")
  private func collect<Value>(_ value: Value) throws -> [Value] {
    var values: [Value] = []
    try Self.runFromWords { values.append(value) }
    return values
  }

  @Test("a closure with a captured closure that does not escape")
  func closureInAClosure() throws {
    var number = 1
    try twice { number *= 3 }
    #expect(number == 81)
  }

  @inline(never)
  private func twice(_ body: () -> Void) throws {
    try Self.runFromWords {
      body()
      body()
    }
  }

  @Test("a closure whose body throws a typed error into a captured result")
  func typedError() throws {
    struct Failure: Error, Equatable { let number: Int }
    func failing() throws(Failure) -> Int { throw Failure(number: 4) }
    #expect(try outcomes(failing) == [.failure(Failure(number: 4)), .failure(Failure(number: 4))])
    #expect(try outcomes { () throws(Failure) -> Int in 5 } == [.success(5), .success(5)])
  }

  private func outcomes<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
  ) throws -> [Result<Value, Failure>] {
    var outcomes: [Result<Value, Failure>] = []
    try Self.runFromWords {
      do throws(Failure) { outcomes.append(.success(try body())) } catch { outcomes.append(.failure(error)) }
    }
    return outcomes
  }

  private struct Appender {
    let log: EventLog<String>

    func append() { log.append("method") }
  }

  @Test("a function and a method in the place of a closure")
  func functions() throws {
    let log = EventLog<String>()
    func local() { log.append("local") }
    try Self.runFromWords(local)
    let appender = Appender(log: log)
    try Self.runFromWords(appender.append)
    #expect(log.events == ["local", "local", "method", "method"])
  }
}
