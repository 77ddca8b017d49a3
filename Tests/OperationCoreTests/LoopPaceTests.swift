import CPlatform
import Testing

@testable import OperationCore
@testable import OperationLoops

@Suite("The pace of a loop")
struct LoopPaceTests {
  private let microsecond = cplatform_ticks_per_microsecond()

  @Test("a chunk grows while it is short, and has an end")
  func growth() {
    var pace = LoopPace()
    var chunks = [pace.chunk]
    for _ in 0..<8 {
      pace.learn(1, pace.chunk)
      chunks.append(pace.chunk)
    }
    #expect(chunks == [1, 4, 16, 64, 256, 512, 512, 512, 512])
  }

  @Test("a long chunk shrinks, down to one index")
  func shrinking() {
    var pace = LoopPace(chunk: 64)
    for expected in [16, 4, 1, 1] {
      pace.learn(6 * microsecond, pace.chunk)
      #expect(pace.chunk == expected)
    }
  }

  @Test("a chunk that took between one and five microseconds stays, and so does a chunk that the end of the loop cut")
  func steadiness() {
    var pace = LoopPace(chunk: 16)
    pace.learn(2 * microsecond, 16)
    #expect(pace.chunk == 16)
    pace.learn(1, 3)
    #expect(pace.chunk == 16)
  }

  @Test("before anything was measured any two indices are worth a fork; later those that take two microseconds")
  func worth() {
    var pace = LoopPace()
    #expect(pace.isWorthFork(2))
    #expect(!pace.isWorthFork(1))
    pace.learn(microsecond, 100)
    #expect(!pace.isWorthFork(150))
    #expect(pace.isWorthFork(250))
    pace.learn(1_000 * microsecond, 1)
    #expect(pace.isWorthFork(2))
    #expect(pace.isWorthFork(.max))
  }

  @Test("what a piece has measured goes to the next piece in one word")
  func word() {
    var pace = LoopPace(chunk: 16)
    pace.learn(2 * microsecond, 16)
    let next = LoopPace(measured: pace.word)
    #expect(next.chunk == 16)
    #expect(!next.isWorthFork(10))
    #expect(next.isWorthFork(20))
    pace.learn(.max, 1)
    #expect(LoopPace(measured: pace.word).chunk == 1)
  }

  @Test("blocks of a reduction follow from the number of elements, and cover each element once")
  func blocks() {
    for count in [0, 1, 2, 511, 512, 513, 1_000, 1_023, 1_024, 1_000_000] {
      let blocks = ReductionBlocks(count)
      #expect(blocks.count <= 512)
      #expect(count > 512 || blocks.count == count)
      #expect((0..<blocks.count).flatMap(blocks.elements).elementsEqual(0..<count))
      #expect((0..<blocks.count).allSatisfy { !blocks.elements(of: $0).isEmpty })
    }
  }
}
