import Testing

/// Rows 57.6, 64, 73 and 75: what the compiler takes, what it refuses, and its words.
@Suite("Wrong programs", .ownThread)
struct WrongProgramTests {
  struct Program: Sendable, CustomStringConvertible {
    let description: String
    let lines: String
    /// A part of the compiler's message; nil for a program that compiles.
    let complaint: String?
    /// One that is imported beside Operations.
    let module: String

    init(_ description: String, _ lines: String, _ complaint: String?, importing module: String = "Operations") {
      (self.description, self.lines, self.complaint, self.module) = (description, lines, complaint, module)
    }
  }

  static let programs = [
    Program("bodies that give back what they made", "let (a, b) = join({ [1] }, { [2] }); print(a + b)", nil),
    Program(
      "the second body changes a variable", "var sum = 0; _ = join({ 1 }, { sum += 1 }); print(sum)",
      "mutation of captured var 'sum' in concurrently-executing code"),
    Program(
      "the second body reads what the first one changes",
      "var sum = 0; let (_, read) = join({ sum += 1 }, { sum }); print(read)",
      "reference to captured var 'sum' in concurrently-executing code"),
    Program(
      "the bodies of a loop change a variable",
      "var sum = 0; concurrentPerform(iterations: 9) { sum += $0 }; print(sum)",
      "mutation of captured var 'sum' in concurrently-executing code"),
    Program(
      "the second body gives back what others know too",
      "final class Box { var n = 0 }; let box = Box(); let (_, b) = join({ 1 }, { box }); b.n = 1; box.n = 2",
      "capture of 'box' with non-Sendable type 'Box'"),
    Program(
      "a child changes a variable", "var sum = 0; withForkScope { scope in scope.spawn { sum += 1 } }; print(sum)",
      "mutation of captured var 'sum' in concurrently-executing code"),
    Program(
      "a body changes the whole array of its part",
      """
      var numbers = [1, 2]
      var span = numbers.mutableSpan
      span.join(splittingAt: 1) { part in numbers[0] = 3; part[0] = 4 } _: { $0[0] = 5 }
      """, "overlapping accesses to 'numbers'"),
    Program(
      "both bodies change the same span",
      "var numbers = [1, 2]; var span = numbers.mutableSpan; _ = join({ span[0] = 3 }, { span[0] = 4 })",
      "mutation of captured var 'span' in concurrently-executing code"),
    Program(
      "a function that blocks, in a task", "func run() async { (0..<9).concurrentForEach { print($0) } }",
      "blocks the thread; call it in the body of `await backend.run { … }`"),
  ]

  /// Each needs one reading of a call that has several.
  static let readable = [
    Program(
      "a join is the only statement of a closure in a closure",
      """
      enum Local { @TaskLocal static var id = "" }
      @Sendable func a() {}
      let queue = OperationQueue()
      queue.addOperation { Local.$id.withValue("A") { join({ a() }, { a(); a() }) } }
      queue.addOperation { Local.$id.withValue("A") { join({ a(); a() }, { a() }) } }
      queue.addOperation { Local.$id.withValue("A") { join({ join({ a() }, { a() }) }, { a(); a() }) } }
      queue.addOperation { Local.$id.withValue("A") { queue.backend.run { join({ a() }, { a(); a() }) } } }
      queue.addTask { await Local.$id.withValue("A") { await queue.backend.run { join({ a() }, { a(); a() }) } } }
      """, nil),
    Program(
      "a join whose results are taken, or not",
      """
      @Sendable func a() {}
      @discardableResult @Sendable func b() -> Int { 1 }
      let (x, ()) = join({ 1 }, { a(); a() })
      let both: ((), ()) = join(a, a)
      let (y, z) = join(b, b)
      join(a, a)
      join(b, b)
      join({ b() }, { a() })
      print(x + y + z, both)
      """, nil),
    Program(
      "an operation is the only statement of a closure in a closure",
      """
      enum Local { @TaskLocal static var id = "" }
      let queue = OperationQueue()
      queue.addOperation { Local.$id.withValue("A") { queue.addOperation { print(1); print(2) } } }
      let operations: [Operation] = [BlockOperation { print(1); print(2) }, BlockOperation(name: "b") { print(1) }]
      operations.forEach(queue.addOperation)
      """, nil),
    Program(
      "queues of a program that has such initialisers itself",
      """
      class Serial: OperationQueue, @unchecked Sendable {
        init(name: String) {
          super.init()
          self.name = name
          maxConcurrentOperationCount = 1
        }
      }
      class Plain: OperationQueue, @unchecked Sendable {
        convenience init(name: String, maxConcurrentOperationCount: Int = 1) {
          self.init()
          self.name = name
        }
      }
      class Elsewhere: OperationQueue, @unchecked Sendable {
        override init() { super.init(backend: OperationQueue().backend) }
      }
      print(OperationQueue(), Serial(name: "s"), Plain(name: "p"), Plain(), Plain(backend: .threadPool), Elsewhere())
      print(OperationQueue(name: "n"), OperationQueue(maxConcurrentOperationCount: 2))
      print(OperationQueue(backend: .stealing(workers: 4, strategy: .init()), name: "n", maxConcurrentOperationCount: 2))
      let make: () -> OperationQueue = OperationQueue.init
      print(make())
      """, nil),
    Program(
      "a file that imports Foundation, too",
      """
      class Load: Operation, @unchecked Sendable { override func main() {} }
      let queue = OperationQueue(name: "n")
      let quality: QualityOfService = .utility
      queue.qualityOfService = quality
      queue.addOperations([Load(), BlockOperation {}], waitUntilFinished: false)
      print(queue.backend.name, queue.diagnosis(), Load().whyNotStarted(), Date(), Foundation.OperationQueue())
      """, nil, importing: "Foundation"),
    Program(
      "a file that imports Foundation and all of the library",
      """
      class Load: Operation, @unchecked Sendable { override func main() {} }
      OperationQueue().addOperations([Load(), BlockOperation {}], waitUntilFinished: false)
      let jobs: JobList? = nil; _ = jobs
      print(StealingStrategy(), Date())
      """, nil, importing: "Foundation; import OperationBackends"),
  ]

  /// Each says what to write.
  static let mistakes = [
    Program(
      "a body that awaits, as an operation", "OperationQueue().addOperation { await Task.yield() }",
      "queue.addTask { … } adds such a body, and returns its operation"),
    Program(
      "a body that throws, as an operation", "OperationQueue().addOperation { try Task.checkCancellation() }",
      "queue.addTask { … } adds such a body, and returns its operation"),
    Program(
      "a body that awaits, in a block operation", "_ = BlockOperation { await Task.yield() }",
      "TaskOperation { … } and queue.addTask { … } take such a body"),
    Program(
      "a barrier that awaits", "OperationQueue().addBarrierBlock { await Task.yield() }",
      "try await queue.barrier { … } runs such a body alone"),
    Program(
      "a duration for a deadline",
      "_ = Task { try await withDeadline(.seconds(1)) { try await Task.sleep(for: .seconds(2)) } }",
      "write withDeadline(.now + .seconds(1)) { … }", importing: "OperationComposition"),
    Program(
      "a name of the other door", "let job: JobList? = nil; _ = job", "cannot find type 'JobList' in scope"),
    Program("a strategy by name", "_ = StealingStrategy()", "cannot find 'StealingStrategy' in scope"),
  ]

  @Test("rows 57.6 and 64: bodies that would share a variable do not compile", arguments: programs)
  func sharedVariable(program: Program) throws { try check(program) }

  @Test("row 73: calls with several readings compile", arguments: readable)
  func compiles(program: Program) throws { try check(program) }

  @Test("row 75: a wrong call says what to write", arguments: mistakes)
  func refused(program: Program) throws { try check(program) }

  private func check(_ program: Program) throws {
    let text = "import Operations\nimport \(program.module)\nfunc program() {\n\(program.lines)\n}"
    let run = try CompiledProgram.compile(text, "-emit-sil -o /dev/null")
    if let complaint = program.complaint {
      #expect(run.exitCode == 1)
      #expect(run.output.contains("error: "))
      #expect(run.output.contains(complaint))
    } else {
      #expect(run.exitCode == 0)
      #expect(run.output.isEmpty)
    }
  }
}
