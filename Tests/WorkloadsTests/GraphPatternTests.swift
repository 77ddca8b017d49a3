import Testing

@testable import Workloads

/// The table of patterns, worked out by hand for small sizes.
struct GraphPatternTests {
  func shape(_ pattern: GraphPattern, width: Int = 8, steps: Int = 6, radix: Int = 3) -> PatternShape {
    PatternShape(pattern: pattern, width: width, steps: steps, radix: radix, seed: 5)
  }

  @Test func nothingBeforeTheFirstStep() {
    for pattern in GraphPattern.allCases {
      let shape = shape(pattern)
      for i in shape.active(0) { #expect(shape.dependencies(0, i).isEmpty) }
    }
  }

  @Test func regularPatterns() {
    #expect(shape(.trivial).dependencies(3, 4).isEmpty)
    #expect(shape(.noComm).dependencies(3, 4) == [4])
    #expect(shape(.stencil1D).dependencies(1, 0) == [0, 1])
    #expect(shape(.stencil1D).dependencies(1, 4) == [3, 4, 5])
    #expect(shape(.stencil1D).dependencies(1, 7) == [6, 7])
    #expect(shape(.stencil1DPeriodic).dependencies(1, 0) == [0, 1, 7])
    #expect(shape(.stencil1DPeriodic).dependencies(1, 7) == [0, 6, 7])
    #expect(shape(.allToAll).dependencies(2, 3) == Array(0..<8))
  }

  @Test func fastFourierTransform() {
    // D = 3; step 1 has distance 1, step 2 distance 2, step 3 distance 4, step 4 distance 1 again.
    let fft = shape(.fft)
    #expect(fft.dependencies(1, 0) == [0, 1])
    #expect(fft.dependencies(1, 4) == [3, 4, 5])
    #expect(fft.dependencies(2, 4) == [2, 4, 6])
    #expect(fft.dependencies(3, 3) == [3, 7])
    #expect(fft.dependencies(4, 4) == [3, 4, 5])
    #expect(shape(.fft, width: 1).dependencies(1, 0) == [0])
    // Six points have D = 3 too, and what lies outside is left out.
    #expect(shape(.fft, width: 6).dependencies(3, 3) == [3])
  }

  @Test func windows() {
    // Width 4, 6 steps: 1, 2, 3, 3, 2, 1 points, beginning at 0, 0, 0, 1, 2, 3.
    let sweep = shape(.sweep, width: 4, steps: 6)
    #expect((0..<6).map(sweep.active) == [0..<1, 0..<2, 0..<3, 1..<4, 2..<4, 3..<4])
    #expect(sweep.dependencies(1, 0) == [0])
    #expect(sweep.dependencies(1, 1) == [0])
    #expect(sweep.dependencies(3, 3) == [2])
    #expect(sweep.dependencies(4, 2) == [1, 2])
    let tree = shape(.tree, width: 5, steps: 5)
    #expect((0..<5).map(tree.active) == [0..<1, 0..<2, 0..<4, 0..<5, 0..<5])
    #expect(tree.dependencies(1, 1) == [0])
    #expect(tree.dependencies(3, 4) == [2])
    #expect(shape(.tree, width: 8, steps: 100).active(99) == 0..<8)
  }

  @Test func radixPatterns() {
    #expect(shape(.nearest).dependencies(1, 4) == [3, 4, 5])
    #expect(shape(.nearest, radix: 4).dependencies(1, 4) == [2, 3, 4, 5])
    #expect(shape(.nearest, radix: 4).dependencies(1, 0) == [0, 1])
    #expect(shape(.nearest, radix: 0).dependencies(1, 4).isEmpty)
    // Radix 3 of 8: offsets 0, 2, 5; all but the first move with t mod 3.
    #expect(shape(.spread).dependencies(3, 1) == [1, 3, 6])
    #expect(shape(.spread).dependencies(1, 1) == [1, 4, 7])
    #expect(shape(.spread).dependencies(2, 1) == [0, 1, 5])
  }

  @Test func randomNearestKeepsAShareOfTheWindow() {
    let random = shape(.randomNearest, width: 200, steps: 7, radix: 9)
    let nearest = shape(.nearest, width: 200, steps: 7, radix: 9)
    var kept = 0
    var offered = 0
    for t in 1..<7 {
      for i in 0..<200 {
        let chosen = random.dependencies(t, i)
        #expect(chosen.contains(i))
        #expect(Set(chosen).isSubset(of: nearest.dependencies(t, i)))
        kept += chosen.count - 1
        offered += nearest.dependencies(t, i).count - 1
      }
    }
    #expect(abs(Double(kept) / Double(offered) - 0.25) < 0.03)
    #expect(random.dependencies(1, 50) == random.dependencies(4, 50))
  }

  @Test(arguments: GraphPattern.allCases)
  func graphsAreConsistent(pattern: GraphPattern) {
    let shape = shape(pattern, width: 7, steps: 9)
    let graph = shape.graph(work: 100, imbalance: 0)
    #expect(graph.count == (0..<9).reduce(0) { $0 + shape.active($1).count })
    #expect(
      graph.edges
        == (1..<9).reduce(0) { sum, t in sum + shape.active(t).reduce(0) { $0 + shape.dependencies(t, $1).count } })
    #expect(graph.dependents.reduce(0) { $0 + $1.count } == graph.edges)
    #expect(graph.totalWork == Double(graph.count) * 100)
    #expect(graph.criticalPath == (pattern == .trivial ? 100 : 900))
  }

  @Test func imbalance() {
    let even = shape(.noComm).graph(work: 100, imbalance: 0)
    let uneven = shape(.noComm).graph(work: 100, imbalance: 1)
    #expect(Set(even.nanoseconds) == [100])
    #expect(uneven.nanoseconds.allSatisfy { 50..<150 ~= $0 })
    #expect(Set(uneven.nanoseconds).count > uneven.count / 2)
    #expect(uneven.nanoseconds == shape(.noComm).graph(work: 100, imbalance: 1).nanoseconds)
  }

  @Test func bounds() {
    // A diamond of 2, 3, 5, 4: T1 = 14, longest path 2 + 5 + 4 = 11.
    let graph = TaskGraph(inputs: [[], [0], [0], [1, 2]], nanoseconds: [2, 3, 5, 4])
    #expect(graph.totalWork == 14)
    #expect(graph.criticalPath == 11)
    #expect(graph.lowerBound(workers: 1) == 14)
    #expect(graph.lowerBound(workers: 2) == 11)
    #expect(graph.grahamBound(workers: 2) == 12.5)
    #expect(graph.grahamBound(workers: 1) == 14)
  }
}
