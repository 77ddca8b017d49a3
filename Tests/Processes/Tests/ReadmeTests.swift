import Foundation
import Testing

/// The program that README.md shows first: the copy that is compiled here is the same, and it prints everything every
/// time. And the program that the documentation's tutorial ends with.
@Suite("The samples of the pages", .ownThread)
struct ReadmeTests {
  private func text(_ path: String) throws -> String {
    let repository = #filePath.dropLast("Tests/Processes/Tests/ReadmeTests.swift".count)
    return try String(contentsOfFile: "\(repository)\(path)", encoding: .utf8)
  }

  /// The first block of Swift that is a program, up to the next "```".
  private func firstSample(_ readme: String) throws -> String {
    let mark = try #require(readme.range(of: "```swift\nimport "))
    let begin = readme.index(after: try #require(readme[mark].firstIndex(of: "\n")))
    let end = try #require(readme.range(of: "```", range: begin..<readme.endIndex)).lowerBound
    return String(readme[begin..<end])
  }

  @Test("The first sample of README.md is what is compiled")
  func theSampleIsWhatIsCompiled() throws {
    #expect(try firstSample(text("README.md")) == text("Tests/Samples/Readme/main.swift"))
  }

  @Test("The sample prints its last line every time")
  func theSamplePrintsItsLastLineEveryTime() throws {
    for run in 1...50 {
      let program = try Scenario(running: "ReadmeSample")
      #expect(program.exitCode == 0)
      #expect(program.output == "load\nparse\nrender\nshown\n", "run \(run)")
    }
  }

  @Test("The tutorial's last steps do what they say", arguments: [5, 6, 7])
  func theTutorialsLastStepsDoWhatTheySay(step: Int) throws {
    let sample = try text("Sources/Operations/Operations.docc/Resources/ImageLoader-\(step).swift")
    let program = try CompiledProgram(sample).run()
    #expect(program.exitCode == 0)
    var lines = program.output.split(separator: "\n").map(String.init)
    if step == 7 {
      let sheet = lines.filter { $0.allSatisfy("■□".contains) }
      #expect(sheet.count == 8 && sheet[..<3].allSatisfy { $0 == "■■■■■" } && sheet[4...].allSatisfy { $0 == "□□□□□" })
      lines.removeAll { sheet.contains($0) }
    }
    // The last five are cancelled; one that has been answered by then is loaded all the same.
    for number in 1...20 {
      let (loaded, not) = ("image of \(number).png", "\(number).png is not loaded")
      #expect(lines.filter { $0 == loaded || (number > 15 && $0 == not) }.count == 1, "\(number): \(lines)")
    }
    #expect(lines.filter { $0 == "image of now.png" }.count == 1)
    #expect(lines.last == "again: image of 1.png" && lines.count == 22)
  }
}
