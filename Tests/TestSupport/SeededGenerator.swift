import OperationComposition

/// Gives a test equal numbers in every run.
public typealias SeededGenerator = OperationComposition.SeededGenerator
