import HarnessWords

/// One block of one scenario: its processes stand next to one another in the run.
package struct Turn: Sendable {
  package let planned: PlannedScenario
  /// The block of the rows. Scenarios that run at the same time have the same block.
  package let block: Int
  /// The number, from one, of the turns that the scenario has had so far, with this one.
  package let number: Int
  /// The arms that run, in this order.
  package let arms: [Arm]

  /// The CPU, as an index among the allowed CPUs, on which the processes begin.
  ///
  /// CPUs of a shared host differ, by as much as 1.6, because the sibling thread of a CPU may be busy with another
  /// guest. All arms of a block begin on the same CPU, and the blocks take turns.
  package var place: Int { number - 1 }

  package var steps: [Plan.Step] { arms.map { .time(CellKey(planned.scenario, $0), block: block) } }
}
