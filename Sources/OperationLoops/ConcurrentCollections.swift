// Loops over the elements of a collection.

/// Adds loops whose elements several threads visit at the same time.
extension RandomAccessCollection where Self: Sendable {
  /// Calls a body once for each element, on several threads at the same time.
  ///
  /// ```swift
  /// let paths = ["a.txt", "b.txt"]
  /// paths.concurrentForEach { path in print(path) }
  /// ```
  ///
  /// The calling thread takes part. Elements are given to other threads as numbers are by
  /// `concurrentPerform(iterations:execute:)`: there is no grain to choose.
  ///
  /// *Errors*: when bodies throw, the error of the first such element is thrown. Elements behind it may not be visited.
  ///
  /// *Cost*: O(`count`) calls, without an allocation.
  ///
  /// Traps when the pool has been shut down.
  ///
  /// - Parameter body: called with each element.
  @available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
  @inlinable @inline(__always)
  public func concurrentForEach<Failure: Error>(
    _ body: @Sendable (Element) throws(Failure) -> Void
  ) throws(Failure) {
    let error = loopOverElements(
      { lower, upper, memory in
        guard let elements = memory?.assumingMemoryBound(to: Element.self) else { return nil }
        for index in lower..<upper {
          do throws(Failure) { try body(elements[index]) } catch { return LoopFailure(index: index, error: error) }
        }
        return nil
      },
      elsewhere: { lower, upper, memory in
        guard let elements = memory?.assumingMemoryBound(to: Self.self) else { return nil }
        var place = elements.pointee.index(elements.pointee.startIndex, offsetBy: lower)
        for index in lower..<upper {
          do throws(Failure) { try body(elements.pointee[place]) } catch {
            return LoopFailure(index: index, error: error)
          }
          elements.pointee.formIndex(after: &place)
        }
        return nil
      })
    if let error { throw error as! Failure }
  }

  /// - Parameters:
  ///   - run: gets the elements' memory, when they lie side by side.
  ///   - elsewhere: gets a pointer to the collection, when they do not.
  @inlinable
  func loopOverElements(_ run: LoopChunk, elsewhere: LoopChunk) -> (any Error)? {
    let count = count
    let whole = withContiguousStorageIfAvailable {
      runLoop(count, memory: UnsafeMutableRawPointer(mutating: $0.baseAddress), run)
    }
    if let whole { return whole }
    return withUnsafePointer(to: self) {
      runLoop(count, memory: UnsafeMutableRawPointer(mutating: $0), elsewhere)
    }
  }

  /// Returns what a function returns for each element, in the order of the elements. The function is called on several
  /// threads at the same time.
  ///
  /// ```swift
  /// let squares = (1...10).concurrentMap { $0 * $0 }
  /// print(squares)
  /// ```
  ///
  /// The calling thread takes part. Elements are given to other threads as numbers are by
  /// `concurrentPerform(iterations:execute:)`: there is no grain to choose.
  ///
  /// *Errors*: when `transform` throws, the error of the first such element is thrown, and all results are released.
  ///
  /// *Cost*: O(`count`) calls, and one allocation: the array.
  ///
  /// Traps when the pool has been shut down.
  ///
  /// - Parameter transform: called with each element.
  @available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
  @inlinable @inline(__always)
  public func concurrentMap<Result: Sendable, Failure: Error>(
    _ transform: @Sendable (Element) throws(Failure) -> Result
  ) throws(Failure) -> [Result] {
    try mapElements(transform)
  }

  /// Returns what a function returns for each element, when that is not `Sendable`: the function gives it away.
  @available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
  @inlinable @inline(__always)
  public func concurrentMap<Result, Failure: Error>(
    _ transform: @Sendable (Element) throws(Failure) -> sending Result
  ) throws(Failure) -> [Result] {
    try mapElements(transform)
  }

  @inlinable @inline(__always)
  func mapElements<Result, Failure: Error>(
    _ transform: (Element) throws(Failure) -> Result
  ) throws(Failure) -> [Result] {
    let (results, error) = fillArray(
      of: Result.self,
      { lower, upper, memory in
        guard let memory = memory?.assumingMemoryBound(to: MapMemory<Element, Result>.self).pointee else { return nil }
        for index in lower..<upper {
          do throws(Failure) { (memory.results + index).initialize(to: try transform(memory.elements[index])) } catch {
            (memory.results + lower).deinitialize(count: index - lower)
            return LoopFailure(index: index, error: error)
          }
        }
        return nil
      },
      elsewhere: { lower, upper, memory in
        guard let memory = memory?.assumingMemoryBound(to: MapMemory<Self, Result>.self).pointee else { return nil }
        let elements = memory.elements
        var place = elements.pointee.index(elements.pointee.startIndex, offsetBy: lower)
        for index in lower..<upper {
          do throws(Failure) { (memory.results + index).initialize(to: try transform(elements.pointee[place])) } catch {
            (memory.results + lower).deinitialize(count: index - lower)
            return LoopFailure(index: index, error: error)
          }
          elements.pointee.formIndex(after: &place)
        }
        return nil
      })
    if let error { throw error as! Failure }
    return results
  }

  /// - Parameters:
  ///   - run: gets a pointer to the memory of the elements and of the results, when the elements lie side by side.
  ///   - elsewhere: gets a pointer to pointers to the collection and to the results, when they do not.
  @inlinable
  func fillArray<Result>(
    of _: Result.Type, _ run: LoopChunk, elsewhere: LoopChunk
  ) -> ([Result], (any Error)?) {
    let count = count
    if count == 0 { return ([], nil) }
    var error: (any Error)?
    let array = [Result](unsafeUninitializedCapacity: count) { buffer, initialized in
      guard let results = buffer.baseAddress else { return }
      let undo = { (lower: Int, upper: Int) -> Void in (results + lower).deinitialize(count: upper - lower) }
      let whole = withContiguousStorageIfAvailable { elements -> (any Error)? in
        guard let base = elements.baseAddress else { return nil }
        var memory = MapMemory(elements: base, results: results)
        return withUnsafeMutablePointer(to: &memory) {
          runLoop(count, memory: $0, undo: undo, run)
        }
      }
      error =
        whole
        ?? withUnsafePointer(to: self) { elements in
          var memory = MapMemory(elements: elements, results: results)
          return withUnsafeMutablePointer(to: &memory) {
            runLoop(count, memory: $0, undo: undo, elsewhere)
          }
        }
      initialized = error == nil ? count : 0
    }
    return (array, error)
  }
}

/// Where a map reads and writes.
@frozen @usableFromInline
struct MapMemory<Elements, Result> {
  @usableFromInline let elements: UnsafePointer<Elements>
  @usableFromInline let results: UnsafeMutablePointer<Result>

  @inlinable
  init(elements: UnsafePointer<Elements>, results: UnsafeMutablePointer<Result>) {
    (self.elements, self.results) = (elements, results)
  }
}
