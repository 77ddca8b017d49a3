import OperationForks

// Parts of one piece of memory, each for a thread of its own. The compiler lets nobody have the same element twice: a
// part is a span that a body has exclusively, and that cannot leave the body.

/// Adds ways to give parts of a span to several threads at the same time.
extension MutableSpan where Element: Sendable {
  /// Splits the span in two, and runs two bodies, each with one part, at the same time where a thread is free.
  ///
  /// ```swift
  /// func negate(_ numbers: inout MutableSpan<Int>) {
  ///   guard numbers.count > 1_000 else {
  ///     for index in numbers.indices { numbers[index].negate() }
  ///     return
  ///   }
  ///   numbers.join(splittingAt: numbers.count / 2) { negate(&$0) } _: { negate(&$0) }
  /// }
  /// var numbers = Array(0..<10_000)
  /// var span = numbers.mutableSpan
  /// negate(&span)
  /// ```
  ///
  /// `join(_:_:)` says where the bodies run, which error is thrown and what forks inherit. The call costs a few stores.
  ///
  /// Traps when `index` is below 0 or above `count`.
  ///
  /// - Parameters:
  ///   - index: the first element of the second part.
  ///   - first: runs on the calling thread, with the elements before `index`.
  ///   - second: runs there too, or on another thread, with the elements from `index` on. There they count from 0.
  /// - Returns: what `first` and `second` returned.
  @available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
  @inlinable @inline(__always)
  @discardableResult
  public mutating func join<First, Second, Failure: Error>(
    splittingAt index: Int, _ first: (inout MutableSpan<Element>) throws(Failure) -> First,
    _ second: @Sendable (inout MutableSpan<Element>) throws(Failure) -> sending Second
  ) throws(Failure) -> (First, Second) {
    if index < 0 || index > count { forkMisuse("a span of \(count) elements was split at \(index)") }
    let joined = try withUnsafeMutableBufferPointer { elements throws(Failure) -> Joined<First, Second> in
      try forkAndJoin(
        { () throws(Failure) -> First in
          var part = MutableSpan(_unsafeElements: elements[..<index])
          return try first(&part)
        },
        { () throws(Failure) -> Second in
          var part = MutableSpan(_unsafeElements: elements[index...])
          return try second(&part)
        })
    }
    return (joined.first, joined.second)
  }

  /// Calls a body with each chunk of the span, on several threads at the same time.
  ///
  /// ```swift
  /// var pixels = [UInt8](repeating: 0, count: 640 * 480)
  /// var span = pixels.mutableSpan
  /// span.concurrentForEachChunk(ofCount: 640) { row, line in
  ///   for column in line.indices { line[column] = UInt8(truncatingIfNeeded: row ^ column) }
  /// }
  /// ```
  ///
  /// Chunks are given to other threads as numbers are by `concurrentPerform(iterations:execute:)`.
  ///
  /// *Errors*: when bodies throw, the error of the first such chunk is thrown. Chunks behind it may not be visited.
  ///
  /// *Cost*: O(number of chunks) calls, without an allocation.
  ///
  /// Traps when `size` is below 1, and when the pool has been shut down.
  ///
  /// - Parameters:
  ///   - size: the number of elements of each chunk. The last one may be shorter.
  ///   - body: called with the number of each chunk, from 0 on, and its elements, which count from 0.
  @available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
  @inlinable @inline(__always)
  public mutating func concurrentForEachChunk<Failure: Error>(
    ofCount size: Int, _ body: @Sendable (_ number: Int, _ chunk: inout MutableSpan<Element>) throws(Failure) -> Void
  ) throws(Failure) {
    if size < 1 { forkMisuse("a span was cut into chunks of \(size) elements") }
    let count = count
    let error = withUnsafeMutableBufferPointer { elements in
      runLoop(count / size + (count % size == 0 ? 0 : 1), memory: nil) { lower, upper, _ in
        for number in lower..<upper {
          let start = number * size
          var chunk = MutableSpan(_unsafeElements: elements[start..<start + min(size, count - start)])
          do throws(Failure) { try body(number, &chunk) } catch { return LoopFailure(index: number, error: error) }
        }
        return nil
      }
    }
    if let error { throw error as! Failure }
  }

  /// Calls a body with each element, to change it in place, on several threads at the same time.
  ///
  /// ```swift
  /// var numbers = [1, 2, 3]
  /// var span = numbers.mutableSpan
  /// span.concurrentForEach { $0 += 1 }
  /// ```
  ///
  /// Elements are given to other threads as numbers are by `concurrentPerform(iterations:execute:)`: there is no grain
  /// to choose.
  ///
  /// *Errors*: when bodies throw, the error of the first such element is thrown. Elements behind it may not be visited.
  ///
  /// *Cost*: O(`count`) calls, without an allocation. Traps when the pool has been shut down.
  ///
  /// - Parameter body: called with each element.
  @available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
  @inlinable @inline(__always)
  public mutating func concurrentForEach<Failure: Error>(
    _ body: @Sendable (inout Element) throws(Failure) -> Void
  ) throws(Failure) {
    let error = visitMemory { lower, upper, memory in
      guard let elements = memory?.assumingMemoryBound(to: Element.self) else { return nil }
      for index in lower..<upper {
        do throws(Failure) { try body(&elements[index]) } catch { return LoopFailure(index: index, error: error) }
      }
      return nil
    }
    if let error { throw error as! Failure }
  }

  @inlinable
  mutating func visitMemory(_ run: LoopChunk) -> (any Error)? {
    withUnsafeMutableBufferPointer { runLoop($0.count, memory: $0.baseAddress, run) }
  }
}

/// Adds a way to give parts of an array to several threads at the same time.
extension Array where Element: Sendable {
  /// Calls a body with each chunk of the array, to change its elements in place, on several threads at the same time.
  ///
  /// ```swift
  /// var numbers = [1, 2, 3, 4, 5]
  /// numbers.concurrentForEachChunk(ofCount: 2) { _, chunk in chunk[0] = 0 }
  /// print(numbers)
  /// ```
  ///
  /// For a part of an array, call the method of this name on its `mutableSpan`.
  ///
  /// - Parameters:
  ///   - size: the number of elements of each chunk. The last one may be shorter.
  ///   - body: called with the number of each chunk, from 0 on, and its elements, which count from 0.
  @available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
  @inlinable @inline(__always)
  public mutating func concurrentForEachChunk<Failure: Error>(
    ofCount size: Int, _ body: @Sendable (_ number: Int, _ chunk: inout MutableSpan<Element>) throws(Failure) -> Void
  ) throws(Failure) {
    var span = mutableSpan
    try span.concurrentForEachChunk(ofCount: size, body)
  }
}
