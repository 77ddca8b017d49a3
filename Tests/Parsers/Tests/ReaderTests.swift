import FoundationEssentials
import LaboratorySupport
import ParserEngine
import Testing

/// The committed inputs, and a few thousand mutations of them; `scripts/hunt/fuzz-parsers` does more.
@Suite struct ReaderTests {
  @Test(arguments: Reader.all) func `the corpus gives values or complaints`(reader: Reader) {
    #expect(!reader.corpus.isEmpty)
    for (file, bytes) in reader.corpus {
      let objection = reader.objection(to: bytes)
      #expect(objection == nil, "\(file)")
    }
  }

  @Test(arguments: Reader.all) func `mutations give values or complaints`(reader: Reader) {
    let failure = reader.fuzz(inputs: 2_000, seed: 1)
    #expect(failure == nil, "\(failure.map { String(decoding: $0.input, as: UTF8.self) } ?? "")")
  }

  /// The real workflows beside the checkout, those that are not too long for the time of a test.
  static let workflows: [[UInt8]] = {
    let folder = Checkout.path("../shared/data/wfinstances")
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return files.sorted().filter { $0.hasSuffix(".json") }.compactMap { file in
      FileManager.default.contents(atPath: "\(folder)/\(file)").map { Array($0) }
    }.filter { $0.count < 120_000 }
  }()

  @Test(.enabled(if: !workflows.isEmpty, "the workflow instances are not beside this checkout"))
  func `mutations of real workflows give values or complaints`() throws {
    let reader = try #require(Reader.all.first { $0.name == "workflow" })
    var mutation = Mutation(tokens: reader.tokens, seed: 1)
    for workflow in Self.workflows {
      #expect(reader.objection(to: workflow) == nil)
      for _ in 0..<10 {
        let input = mutation.mutated(workflow, with: Self.workflows[0])
        #expect(reader.objection(to: input) == nil, "\(String(decoding: input, as: UTF8.self))")
      }
    }
  }

  @Test func `messages without words or with two lines are objected to`() {
    #expect(Reader.objection(to: "a: wrong") == nil)
    #expect(Reader.objection(to: "") != nil)
    #expect(Reader.objection(to: "  ") != nil)
    #expect(Reader.objection(to: "a\nb")?.contains("more than one line") == true)
  }

  @Test func `mutations follow their seed, and change what they are given`() {
    var mutation = Mutation(tokens: ["token"], seed: 7)
    var same = Mutation(tokens: ["token"], seed: 7)
    let input = Array("1,2,3\r\nabc".utf8)
    var distinct: Set<[UInt8]> = []
    for _ in 0..<1_000 {
      let mutated = mutation.mutated(input, with: Array("other".utf8))
      #expect(mutated == same.mutated(input, with: Array("other".utf8)))
      distinct.insert(mutated)
    }
    #expect(distinct.count > 900)
  }
}
