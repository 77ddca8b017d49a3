import HarnessComparing
import HarnessWords

/// The last lines of a run: the verdict on each family, and where to find more.
package struct RunEnding: Sendable {
  package let verdicts: [FamilyVerdict]
  /// The name of the program in the commands that the lines show.
  package let program: String
  /// The file of the rows; nil when the rows went elsewhere.
  package let file: String?

  package init(_ verdicts: [FamilyVerdict], program: String, file: String?) {
    (self.verdicts, self.program, self.file) = (verdicts, program, file)
  }

  package func text(width: Int) -> String {
    let lines = verdicts.flatMap { WrappedText.lines($0.text, width: width, hanging: 4) }
    let more =
      file.map {
        [
          ["\(program) compare \($0)", "every ratio, with intervals that hold together"],
          ["\(program) report \($0) --output report", "pictures, and one page about all of it"],
        ]
      } ?? [["\(program) run … --output X.csv", "keeps the numbers, for \(program) compare X.csv and report X.csv"]]
    let commands = Table.aligned(more).flatMap { WrappedText.lines($0, width: width, indent: 2, hanging: 6) }
    return (lines + (lines.isEmpty ? [] : [""]) + ["to see more:"] + commands).joined(separator: "\n") + "\n"
  }
}
