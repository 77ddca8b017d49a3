import OperationForks

// Reducing along a tree whose shape the number of elements decides.

/// Adds reductions whose blocks several threads reduce at the same time.
extension RandomAccessCollection where Self: Sendable {
  /// Combines all elements, on several threads at the same time.
  ///
  /// ```swift
  /// let words = ["a", "bc", "def"]
  /// let letters = words.concurrentReduce(0, { $0 + $1.count }, combine: +)
  /// print(letters)
  /// ```
  ///
  /// *Shape*: the elements are cut into blocks. How many there are, and where they end, follows from `count` alone.
  /// Each block is reduced from `initialResult` on, from left to right. The results of the blocks are combined along a
  /// balanced tree, in their order. So the result is the same with any number of threads, for floating-point numbers
  /// too. `combine` must be associative, and must give back the other value when one of the two is `initialResult`, if
  /// the result is to be that of `reduce`.
  ///
  /// *Errors*: when `nextPartialResult` throws, the error of the first such element is thrown, and nothing is combined.
  /// When `combine` throws, the error of the first such combination is thrown.
  ///
  /// *Cost*: O(`count`) calls of `nextPartialResult`, and at most 511 of `combine`. A collection of at most 512
  /// elements has a block for each element, so that any of them may be a long one. The threads that help look for work
  /// between blocks.
  ///
  /// Traps when the pool has been shut down.
  ///
  /// - Parameters:
  ///   - initialResult: what each block begins with.
  ///   - nextPartialResult: adds an element to what came before it in its block.
  ///   - combine: combines the results of two neighbouring parts.
  @available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
  @inlinable @inline(__always)
  public func concurrentReduce<Result: Sendable, Failure: Error>(
    _ initialResult: Result, _ nextPartialResult: @Sendable (Result, Element) throws(Failure) -> Result,
    combine: @Sendable (Result, Result) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let scope = ForkScope()
    defer { scope?.end() }
    let (results, error) = withUnsafePointer(to: initialResult) { initialResult in
      reduceBlocks(
        initialResult,
        { lower, upper, memory in
          guard let memory = memory?.assumingMemoryBound(to: ReductionMemory<Element, Result>.self).pointee else {
            return nil
          }
          for block in lower..<upper {
            var result = memory.initialResult.pointee
            do throws(Failure) {
              for index in memory.blocks.elements(of: block) {
                result = try nextPartialResult(result, memory.elements[index])
              }
            } catch {
              (memory.results + lower).deinitialize(count: block - lower)
              return LoopFailure(index: block, error: error)
            }
            (memory.results + block).initialize(to: result)
          }
          return nil
        },
        elsewhere: { lower, upper, memory in
          guard let memory = memory?.assumingMemoryBound(to: ReductionMemory<Self, Result>.self).pointee else {
            return nil
          }
          let elements = memory.elements
          var place = elements.pointee.index(
            elements.pointee.startIndex, offsetBy: memory.blocks.elements(of: lower).lowerBound)
          for block in lower..<upper {
            var result = memory.initialResult.pointee
            do throws(Failure) {
              for _ in memory.blocks.elements(of: block) {
                result = try nextPartialResult(result, elements.pointee[place])
                elements.pointee.formIndex(after: &place)
              }
            } catch {
              (memory.results + lower).deinitialize(count: block - lower)
              return LoopFailure(index: block, error: error)
            }
            (memory.results + block).initialize(to: result)
          }
          return nil
        })
    }
    if let error { throw error as! Failure }
    return try combineNeighbours(results, combine) ?? initialResult
  }

  /// Reduces each block, in the scope that is under way.
  /// - Parameters:
  ///   - run: gets the memory of the elements, when they lie side by side.
  ///   - elsewhere: gets a pointer to the collection, when they do not.
  @inlinable
  func reduceBlocks<Result>(
    _ initialResult: UnsafePointer<Result>, _ run: LoopChunk, elsewhere: LoopChunk
  ) -> ([Result], (any Error)?) {
    let blocks = ReductionBlocks(count)
    if blocks.count == 0 { return ([], nil) }
    var error: (any Error)?
    let array = [Result](unsafeUninitializedCapacity: blocks.count) { buffer, initialized in
      guard let results = buffer.baseAddress else { return }
      let undo = { (lower: Int, upper: Int) -> Void in (results + lower).deinitialize(count: upper - lower) }
      let whole = withContiguousStorageIfAvailable { elements -> (any Error)? in
        guard let base = elements.baseAddress else { return nil }
        var memory = ReductionMemory(elements: base, results: results, initialResult: initialResult, blocks: blocks)
        return withUnsafeMutablePointer(to: &memory) { runLoop(blocks.count, memory: $0, undo: undo, run) }
      }
      error =
        whole
        ?? withUnsafePointer(to: self) { base in
          var memory = ReductionMemory(elements: base, results: results, initialResult: initialResult, blocks: blocks)
          return withUnsafeMutablePointer(to: &memory) {
            runLoop(blocks.count, memory: $0, undo: undo, elsewhere)
          }
        }
      initialized = error == nil ? blocks.count : 0
    }
    return (array, error)
  }

  /// Combines all elements with one function, on several threads at the same time.
  ///
  /// ```swift
  /// let sum = [1.5, 2.5, 3.5].concurrentReduce(0, +)
  /// print(sum)
  /// ```
  ///
  /// For the result of `reduce(_:_:)`, `combine` must be associative, and must give back the other value when one of
  /// the two is `initialResult`. The result is the same with any number of threads.
  ///
  /// - Parameters:
  ///   - initialResult: what each block begins with, as 0 for a sum.
  ///   - combine: combines two neighbouring values.
  @available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
  @inlinable @inline(__always)
  public func concurrentReduce<Failure: Error>(
    _ initialResult: Element, _ combine: @Sendable (Element, Element) throws(Failure) -> Element
  ) throws(Failure) -> Element where Element: Sendable {
    try concurrentReduce(initialResult, combine, combine: combine)
  }
}

/// The blocks of a reduction. Their shape depends on the number of elements alone: else the result of floating-point
/// numbers would be another one with another number of threads.
@frozen @usableFromInline
struct ReductionBlocks: Sendable {
  /// More blocks cost more than they spread the work: a block of cheap elements is to take about a microsecond.
  @usableFromInline static let most = 512

  @usableFromInline let count: Int
  @usableFromInline let length: Int
  @usableFromInline let elementCount: Int

  @usableFromInline
  init(_ elementCount: Int) {
    self.elementCount = elementCount
    length = max(1, (elementCount + Self.most - 1) / Self.most)
    count = (elementCount + length - 1) / length
  }

  @inlinable @inline(__always)
  func elements(of block: Int) -> Range<Int> { block * length..<min((block + 1) * length, elementCount) }
}

/// Where the loop over the blocks reads and writes.
@frozen @usableFromInline
struct ReductionMemory<Elements, Result> {
  @usableFromInline let elements: UnsafePointer<Elements>
  @usableFromInline let results: UnsafeMutablePointer<Result>
  @usableFromInline let initialResult: UnsafePointer<Result>
  @usableFromInline let blocks: ReductionBlocks

  @inlinable
  init(
    elements: UnsafePointer<Elements>, results: UnsafeMutablePointer<Result>, initialResult: UnsafePointer<Result>,
    blocks: ReductionBlocks
  ) {
    (self.elements, self.results, self.initialResult, self.blocks) = (elements, results, initialResult, blocks)
  }
}

/// Combines neighbours, and then what they gave, until one value is left: a balanced tree. Nil for no value.
@inlinable
func combineNeighbours<Result: Sendable, Failure: Error>(
  _ results: [Result], _ combine: @Sendable (Result, Result) throws(Failure) -> Result
) throws(Failure) -> Result? {
  var results = results
  while results.count > 1 {
    let values = results
    results = try (0..<(values.count + 1) / 2).mapElements { (pair: Int) throws(Failure) -> Result in
      let first = 2 * pair
      return first + 1 < values.count ? try combine(values[first], values[first + 1]) : values[first]
    }
  }
  return results.first
}
