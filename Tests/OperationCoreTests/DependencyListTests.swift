import TestSupport
import Testing

@testable import OperationCore

/// The list as a data structure: words that look like addresses stand for the operations.
@Suite struct DependencyListTests {
  private static func words(_ count: Int) -> [UInt] { (1...max(1, count)).prefix(count).map { UInt($0) << 4 } }

  private func withList(of words: [UInt] = [], _ body: (DependencyList) -> Void) {
    let list = DependencyList(owner: 1 << 20)
    for word in words { list.append(word) }
    body(list)
    list.deallocate()
  }

  private func listed(_ list: DependencyList) -> [UInt] {
    var dependencies: [UInt] = []
    list.forEachListed { dependencies.append($0.dependency) }
    return dependencies
  }

  /// The order, and that each is found where it stands.
  private func expect(_ list: DependencyList, is expected: [UInt]) {
    #expect(listed(list) == expected)
    for word in expected {
      let edge = list.find(word)
      #expect(edge != 0 && DependencyList.record(edge).dependency == word && list.mayHold(word))
      #expect(DependencyList.owner(of: edge) == 1 << 20)
    }
  }

  /// Around the ends of chunks, and of the search without an index.
  static let counts = [0, 1, 4, 5, 6, 10, 11, 31, 32, 33, 34, 100]

  @Test(arguments: counts) func `keeps the order of adding, and finds each`(count: Int) {
    withList(of: Self.words(count)) { list in
      expect(list, is: Self.words(count))
      #expect(list.find(1 << 30) == 0)
      #expect(list.first.pointee.count == count)
    }
  }

  @Test func `the filter of a short list tells most others apart`() {
    withList(of: Self.words(4)) { list in
      let others = (1_000..<2_000).count { list.mayHold(UInt($0) << 7) }
      // Four bits of 64 are set.
      #expect(others < 200)
    }
  }

  @Test(arguments: counts) func `the first that is not over, while they end one after the other`(count: Int) {
    var words = Self.words(count)
    withList(of: words) { list in
      var over: Set<UInt> = []
      var asked = 0
      func first() -> UInt {
        list.firstDependency {
          asked += 1
          return over.contains($0)
        }
      }
      for _ in 0..<count {
        let dependency = first()
        #expect(dependency == words.first { !over.contains($0) })
        over.insert(dependency)
        // What is appended or removed meanwhile, and a squeeze, lead to no other answer.
        if dependency % 48 == 0 {
          list.append((1 << 16) + dependency)
          words.append((1 << 16) + dependency)
        }
        if dependency % 80 == 0, let last = words.last(where: { $0 < 1 << 16 && !over.contains($0) }) {
          list.remove(list.find(last))
          words.removeAll { $0 == last }
        }
      }
      while case let dependency = first(), dependency != 0 { over.insert(dependency) }
      #expect(over.isSuperset(of: words))
      list.append(1 << 18)
      #expect(first() == 1 << 18)
      // Without the hint, half of the square.
      if count == 100 { #expect(asked < 20 * count, "\(asked)") }
    }
  }

  @Test(arguments: [1, 3, 5, 6, 31, 33, 60])
  func `a removed one leaves the others in order, and can come back at the end`(count: Int) {
    let words = Self.words(count)
    for index in 0..<count {
      withList(of: words) { list in
        list.remove(list.find(words[index]))
        var expected = words
        expected.remove(at: index)
        expect(list, is: expected)
        #expect(list.find(words[index]) == 0)
        list.append(words[index])
        expect(list, is: expected + [words[index]])
      }
    }
  }

  @Test func `edges stay where they are while others come and go`() {
    withList { list in
      var edges: [UInt: UInt] = [:]
      for word in Self.words(40) {
        let edge = list.append(word | (word % 48 == 0 ? DependencyRecord.linked : 0))
        if word % 48 == 0 { edges[word] = edge }
      }
      for word in Self.words(40) where word % 48 != 0 { list.remove(list.find(word)) }
      #expect(listed(list) == Self.words(40).filter { $0 % 48 == 0 })
      for (word, edge) in edges { #expect(list.find(word) == edge) }
      let late = Self.words(60).suffix(20)
      for word in late { list.append(word) }
      #expect(listed(list) == Self.words(40).filter { $0 % 48 == 0 } + late)
    }
  }

  @Test(arguments: [2, 40]) func `an edge without its dependency is found apart from the list`(count: Int) {
    let words = Self.words(count)
    withList { list in
      for word in words { list.append(word | DependencyRecord.linked) }
      let edge = list.find(words[1])
      list.change(edge, to: words[1] | DependencyRecord.linked | DependencyRecord.unlisted | DependencyRecord.void)
      #expect(list.find(words[1]) == 0)
      #expect(list.findUnlisted(words[1]) == edge)
      #expect(list.findUnlisted(words[0]) == 0)
      list.append(words[1])
      #expect(listed(list) == [words[0]] + words[2...] + [words[1]])
      #expect(list.findUnlisted(words[1]) == edge)
      list.change(edge, to: DependencyRecord.linked | DependencyRecord.unlisted)
      #expect(list.findUnlisted(words[1]) == 0)
      #expect(list.find(words[1]) != edge)
    }
  }

  @Test func `adding and removing for ever takes no more memory`() {
    for linked in [0, 3, 40] {
      withList(of: Self.words(linked).map { $0 | DependencyRecord.linked }) { list in
        for round in 0..<2000 {
          let word = UInt(1000 + round % 7) << 4
          if list.find(word) != 0 { list.remove(list.find(word)) }
          list.append(word)
        }
        #expect(list.first.pointee.count <= 2 * (linked + 8))
        #expect(listed(list).count == linked + 7)
      }
    }
  }

  @Test(arguments: 1...60) func `does what an array does`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let words = Self.words(Int.random(in: 1...90, using: &random))
    withList { list in
      var model: [UInt] = []
      var fixed: [UInt: UInt] = [:]
      for _ in 0..<400 {
        guard let word = words.randomElement(using: &random) else { return }
        let edge = list.find(word)
        #expect((edge != 0) == model.contains(word))
        if let place = fixed[word] {
          #expect(place == edge)
        } else if edge != 0 {
          list.remove(edge)
          model.removeAll { $0 == word }
        } else {
          let isLinked = Int.random(in: 0..<10, using: &random) == 0
          let edge = list.append(word | (isLinked ? DependencyRecord.linked : 0))
          if isLinked { fixed[word] = edge }
          model.append(word)
        }
        #expect(listed(list) == model)
      }
    }
  }
}

@Suite struct SpareChunksTests {
  @Test func `what is kept in one has room there`() {
    #expect(MemoryLayout<OperationExtras>.size <= SpareChunks.byteCount)
    let records = DependencyChunk.capacity * MemoryLayout<DependencyRecord>.stride
    let chunk = Int(DependencyChunk.ownerSize) + MemoryLayout<DependencyChunk>.size + records
    #expect(chunk == SpareChunks.byteCount)
  }
}
