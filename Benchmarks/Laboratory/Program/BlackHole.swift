import CMeasure

/// Takes a value and does nothing with it. The compiler cannot see that, so it keeps the work that makes the value.
///
/// A compiler removes work whose result nobody uses. The time of a benchmark without its work is near zero, and says
/// nothing. Give `blackHole` whatever the body computes and does not check:
///
/// ```swift
/// Benchmark("text/hash", setUp: { makeText() }, measure: { text in blackHole(text.hashValue) })
/// ```
///
/// The compiler may still do work ahead of time that depends on constants alone. So take the input from the state that
/// `setUp` makes, which the compiler does not know either.
@inline(never)
public func blackHole<Value: ~Copyable>(_ value: borrowing Value) {
  withUnsafePointer(to: value) { opbench_keep($0) }
}
