import Testing

@testable import Workloads

struct TaskGraphShapeTests {
  @Test func shapes() {
    #expect(TaskGraph.fanOut(width: 3).inputs == [[], [0], [0], [0]])
    #expect(TaskGraph.diamonds(2, width: 2).inputs == [[], [0], [0], [1, 2], [3], [3], [4, 5]])
    #expect(TaskGraph.reduction(leaves: 4).inputs == [[], [], [], [], [0, 1], [2, 3], [4, 5]])
    #expect(TaskGraph.reduction(leaves: 3).inputs == [[], [], [], [0, 1], [2], [3, 4]])
    #expect(TaskGraph.chain(length: 3).inputs == [[], [0], [1]])
    #expect(TaskGraph.binaryTree(tasks: 6).inputs == [[], [0], [0], [1], [1], [2]])
  }

  @Test func randomGraphsFollowTheSeed() {
    let graph = TaskGraph.random(tasks: 400, layers: 10, probability: 0.25, seed: 7)
    #expect(graph.inputs == TaskGraph.random(tasks: 400, layers: 10, probability: 0.25, seed: 7).inputs)
    #expect(graph.inputs != TaskGraph.random(tasks: 400, layers: 10, probability: 0.25, seed: 8).inputs)
    #expect(graph.count == 400)
    #expect(graph.inputs.prefix(40).allSatisfy { $0.isEmpty })
    #expect(graph.inputs.dropFirst(40).allSatisfy { !$0.isEmpty && $0.count <= 40 })
    // 360 tasks look at 40 each: 3,600 edges are expected, with a standard deviation of 52.
    #expect(abs(graph.edges - 3_600) < 400)
  }

  @Test func certainAndImpossibleEdges() {
    #expect(TaskGraph.random(tasks: 20, layers: 2, probability: 1, seed: 1).edges == 100)
    #expect(TaskGraph.random(tasks: 20, layers: 2, probability: 0, seed: 1).edges == 10)
  }
}
