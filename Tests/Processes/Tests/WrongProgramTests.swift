import Testing

/// Row 64: the compiler refuses bodies that would use one variable at the same time.
@Suite("Wrong programs")
struct WrongProgramTests {
  struct Program: Sendable, CustomStringConvertible {
    let description: String
    let lines: String
    /// A part of the compiler's message; nil for a program that compiles.
    let complaint: String?

    init(_ description: String, _ lines: String, _ complaint: String?) {
      (self.description, self.lines, self.complaint) = (description, lines, complaint)
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
      "expression is 'async' but is not marked with 'await'"),
  ]

  @Test("row 64: bodies that would share a variable do not compile", arguments: programs)
  func sharedVariable(program: Program) throws {
    let folder = try Scenario.buildFolder()
    let run = try Scenario(
      shell: """
        printf '%s\\n' 'import Operations' 'func program() {' "$(cat <<'END'
        \(program.lines)
        END
        )" '}' | swiftc -emit-sil -o /dev/null -swift-version 6 -I '\(folder)/Modules' \\
          -Xcc '-fmodule-map-file=\(folder)/CPlatform.build/module.modulemap' -
        """)
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
