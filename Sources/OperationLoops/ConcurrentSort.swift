import CPlatform
import OperationForks
import Synchronization

/// Adds a stable sort, by a function, whose parts several threads sort at the same time.
extension MutableCollection where Self: RandomAccessCollection, Element: Sendable {
  /// Sorts the collection in place, on several threads at the same time. Equal elements keep their order: the sort is
  /// stable.
  ///
  /// ```swift
  /// var names = ["c", "a", "bb"]
  /// names.concurrentSort { $0.count < $1.count }
  /// print(names)
  /// ```
  ///
  /// *Shape*: a merge sort. Halves are sorted, and parts of a merge are merged, by other threads where these ask for
  /// work. What is too short for that follows from the time that the elements take.
  ///
  /// *Errors*: when the function throws, one of its errors is thrown. The collection then has all its elements, in some
  /// order.
  ///
  /// *Cost*: O(*n* log *n*) calls, O(*n*) when the elements are in order or in strictly descending order. One
  /// allocation of `count` elements; one more for a collection whose elements do not lie side by side in memory.
  ///
  /// Traps when the pool has been shut down.
  ///
  /// - Parameter areInIncreasingOrder: whether its first argument comes before its second one: a strict weak order, as
  ///   for `sort(by:)`.
  @available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
  @inlinable @inline(__always)
  public mutating func concurrentSort<Failure: Error>(
    by areInIncreasingOrder: @Sendable (Element, Element) throws(Failure) -> Bool
  ) throws(Failure) {
    let error = sortInMemory(
      sortLeaf: { lower, upper, intoBuffer, memory in
        let (source, target) = SortMemory<Element>.at(memory).leaf(lower, intoBuffer: intoBuffer)
        return insertionSort(source, target, upper - lower, areInIncreasingOrder)
      },
      merge: { runs, limit, memory in
        let (source, target) = SortMemory<Element>.at(memory).merge(intoBuffer: runs.intoBuffer)
        return mergeSome(&runs, limit, source, target, areInIncreasingOrder)
      },
      isLess: { first, second, inBuffer, memory in
        let memory = SortMemory<Element>.at(memory)
        let elements = inBuffer ? memory.buffer : memory.elements
        do throws(Failure) {
          return (try areInIncreasingOrder(elements[first], elements[second]), nil)
        } catch { return (false, error) }
      })
    if let error { throw error as! Failure }
  }

  /// Sorts with functions that touch elements, and that capture the user's function alone: as for `runLoop`, the
  /// compiler then makes that one a part of their loops.
  @inlinable
  mutating func sortInMemory(sortLeaf: SortLeaf, merge: MergeRuns, isLess: ComparePlaces) -> (any Error)? {
    let whole = withContiguousMutableStorageIfAvailable {
      sortElements($0, sortLeaf: sortLeaf, merge: merge, isLess: isLess)
    }
    if let whole { return whole }
    var copy = ContiguousArray(self)
    let error = copy.withUnsafeMutableBufferPointer {
      sortElements($0, sortLeaf: sortLeaf, merge: merge, isLess: isLess)
    }
    for (place, element) in zip(indices, copy) { self[place] = element }
    return error
  }
}

/// Adds a stable sort, in ascending order, whose parts several threads sort at the same time.
extension MutableCollection where Self: RandomAccessCollection, Element: Sendable & Comparable {
  /// Sorts the collection in ascending order, in place, on several threads at the same time. Equal elements keep their
  /// order.
  ///
  /// ```swift
  /// var numbers = [3, 1, 2]
  /// numbers.concurrentSort()
  /// print(numbers)
  /// ```
  ///
  /// Order, errors and cost are those of `concurrentSort(by:)`.
  @available(*, noasync, message: "blocks the thread; call it in the body of `await backend.run { … }`")
  @inlinable @inline(__always)
  public mutating func concurrentSort() { concurrentSort { $0 < $1 } }
}

/// Two sorted runs that are being merged. The numbers are places in the elements or in the buffer; the runs lie in one
/// of the two, and what is merged goes to the other.
@frozen @usableFromInline
struct MergedRuns {
  @usableFromInline var left: Int
  @usableFromInline let leftEnd: Int
  @usableFromInline var right: Int
  @usableFromInline let rightEnd: Int
  @usableFromInline var output: Int
  @usableFromInline let intoBuffer: Bool

  init(left: Range<Int>, right: Range<Int>, output: Int, intoBuffer: Bool) {
    (self.left, leftEnd) = (left.lowerBound, left.upperBound)
    (self.right, rightEnd) = (right.lowerBound, right.upperBound)
    (self.output, self.intoBuffer) = (output, intoBuffer)
  }

  var count: Int { leftEnd - left + (rightEnd - right) }
}

/// Sorts few elements, from one place up to another, into the buffer or where they are.
@usableFromInline
typealias SortLeaf = (
  _ lower: Int, _ upper: Int, _ intoBuffer: Bool, _ memory: UnsafeMutableRawPointer
) -> (any Error)?
/// Merges some elements of two runs, as many as `limit` says.
@usableFromInline
typealias MergeRuns = (_ runs: inout MergedRuns, _ limit: Int, _ memory: UnsafeMutableRawPointer) -> (any Error)?
/// Whether the element at one place comes before the element at another.
@usableFromInline
typealias ComparePlaces = (
  _ first: Int, _ second: Int, _ inBuffer: Bool, _ memory: UnsafeMutableRawPointer
) -> (Bool, (any Error)?)

/// The two places of the elements of a sort.
@frozen @usableFromInline
struct SortMemory<Element> {
  @usableFromInline let elements: UnsafeMutablePointer<Element>
  @usableFromInline let buffer: UnsafeMutablePointer<Element>

  @inlinable
  init(elements: UnsafeMutablePointer<Element>, buffer: UnsafeMutablePointer<Element>) {
    (self.elements, self.buffer) = (elements, buffer)
  }

  @inlinable @inline(__always)
  static func at(_ memory: UnsafeMutableRawPointer) -> Self { memory.assumingMemoryBound(to: Self.self).pointee }

  @inlinable @inline(__always)
  func leaf(_ lower: Int, intoBuffer: Bool) -> (UnsafeMutablePointer<Element>, UnsafeMutablePointer<Element>) {
    (elements + lower, (intoBuffer ? buffer : elements) + lower)
  }

  @inlinable @inline(__always)
  func merge(intoBuffer: Bool) -> (UnsafeMutablePointer<Element>, UnsafeMutablePointer<Element>) {
    intoBuffer ? (elements, buffer) : (buffer, elements)
  }
}

@inlinable
func sortElements<Element>(
  _ memory: UnsafeMutableBufferPointer<Element>, sortLeaf: SortLeaf, merge: MergeRuns,
  isLess: ComparePlaces
) -> (any Error)? {
  guard let elements = memory.baseAddress, memory.count > 1 else { return nil }
  let count = memory.count
  let buffer = UnsafeMutablePointer<Element>.allocate(capacity: count)
  defer { buffer.deallocate() }
  var places = SortMemory(elements: elements, buffer: buffer)
  return withUnsafeMutablePointer(to: &places) { places in
    let order = findOrder(count) { isLess($0, $1, false, places) }
    if order.descends {
      for place in 0..<count / 2 { memory.swapAt(place, count - 1 - place) }
    }
    if order.isOrdered || order.error != nil { return order.error }
    return sortInParts(
      count, memory: places, sortLeaf: sortLeaf, merge: merge, isLess: isLess,
      move: { from, count, to, intoBuffer in
        let (source, target) = SortMemory<Element>.at(places).merge(intoBuffer: intoBuffer)
        (target + to).moveInitialize(from: source + from, count: count)
      })
  }
}

/// Whether all elements are in order, or all in strictly descending order.
@usableFromInline
func findOrder(
  _ count: Int, _ isLess: (Int, Int) -> (Bool, (any Error)?)
) -> (isOrdered: Bool, descends: Bool, error: (any Error)?) {
  let (descends, failure) = isLess(1, 0)
  if let failure { return (false, false, failure) }
  for index in 2..<max(2, count) {
    let (isBelow, failure) = isLess(index, index - 1)
    if let failure { return (false, false, failure) }
    if isBelow != descends { return (false, false, nil) }
  }
  return (true, descends, nil)
}

/// Moves elements from `source` to `target`, which may be the same, so that they are sorted there. If the function
/// throws, they are there in some order.
@inlinable @inline(__always)
func insertionSort<Element, Failure: Error>(
  _ source: UnsafeMutablePointer<Element>, _ target: UnsafeMutablePointer<Element>, _ count: Int,
  _ isLess: (Element, Element) throws(Failure) -> Bool
) -> (any Error)? {
  var sorted = 0
  while sorted < count {
    let element = (source + sorted).move()
    var place = sorted
    var failure: (any Error)?
    while place > 0 {
      do throws(Failure) {
        if try !isLess(element, target[place - 1]) { break }
      } catch {
        failure = error
        break
      }
      (target + place).moveInitialize(from: target + (place - 1), count: 1)
      place -= 1
    }
    (target + place).initialize(to: element)
    sorted += 1
    if let failure {
      if source != target { (target + sorted).moveInitialize(from: source + sorted, count: count - sorted) }
      return failure
    }
  }
  return nil
}

/// Merges about `limit` elements. If the function throws, the runs say what is left.
@inlinable @inline(__always)
func mergeSome<Element, Failure: Error>(
  _ runs: inout MergedRuns, _ limit: Int, _ source: UnsafeMutablePointer<Element>,
  _ target: UnsafeMutablePointer<Element>, _ isLess: (Element, Element) throws(Failure) -> Bool
) -> (any Error)? {
  var rest = limit
  while rest > 0, runs.left < runs.leftEnd, runs.right < runs.rightEnd {
    // Neither run can end in between: no comparison of places inside.
    let safe = min(rest, runs.leftEnd - runs.left, runs.rightEnd - runs.right)
    var left = source + runs.left
    var right = source + runs.right
    var output = target + runs.output
    let end = output + safe
    var failure: (any Error)?
    while output < end {
      do throws(Failure) {
        let takesRight = try isLess(right.pointee, left.pointee)
        // No branch: the processor would guess wrong half of the time.
        output.moveInitialize(from: takesRight ? right : left, count: 1)
        right += takesRight ? 1 : 0
        left += takesRight ? 0 : 1
        output += 1
      } catch {
        failure = error
        break
      }
    }
    (runs.left, runs.right, runs.output) = (left - source, right - source, output - target)
    if let failure { return failure }
    rest -= safe
  }
  return nil
}

/// What the parts of one sort share.
private struct SortState: ~Copyable {
  let measured = Atomic<UInt64>(0)
  let hasFailed = Atomic<Bool>(false)
  let time = LoopTime.here
}

/// Fewer elements are sorted by insertion.
private let leafLength = 20
/// A shorter merge is not worth a split, whatever a comparison takes.
private let leastSplitMerge = 64

/// Sorts `count` elements, which are named by their places: this part of the sort knows neither their type nor the
/// user's function.
/// - Parameters:
///   - memory: what the other functions get.
///   - move: moves elements into the buffer, or back.
@usableFromInline
func sortInParts(
  _ count: Int, memory: UnsafeMutableRawPointer, sortLeaf: SortLeaf, merge: MergeRuns,
  isLess: ComparePlaces, move: (_ from: Int, _ count: Int, _ to: Int, _ intoBuffer: Bool) -> Void
) -> (any Error)? {
  let scope = count > leafLength ? ForkScope() : nil
  defer { scope?.end() }
  var state = SortState()
  return withUnsafeMutablePointer(to: &state) { state in
    // Each of the functions leaves its elements where the caller wants them, also when a comparison has failed.

    func moveRest(_ runs: MergedRuns) {
      let leftCount = runs.leftEnd - runs.left
      move(runs.left, leftCount, runs.output, runs.intoBuffer)
      move(runs.right, runs.rightEnd - runs.right, runs.output + leftCount, runs.intoBuffer)
    }

    func fail(_ error: any Error, _ runs: MergedRuns) -> any Error {
      state.pointee.hasFailed.store(true, ordering: .relaxed)
      moveRest(runs)
      return error
    }

    func sort(_ lower: Int, _ upper: Int, intoBuffer: Bool) -> (any Error)? {
      let count = upper - lower
      if state.pointee.hasFailed.load(ordering: .relaxed) {
        if intoBuffer { move(lower, count, lower, true) }
        return nil
      }
      if count <= leafLength { return sortSerially(lower, upper, intoBuffer: intoBuffer) }
      let middle = lower + count / 2
      var error: (any Error)?
      if ForkDemand.isHere(), LoopPace(measured: state.pointee.measured.load(ordering: .relaxed)).isWorthFork(count) {
        let halves = forkAndJoin(
          { sort(lower, middle, intoBuffer: !intoBuffer) }, { sort(middle, upper, intoBuffer: !intoBuffer) })
        error = halves.first ?? halves.second
      } else {
        error = sort(lower, middle, intoBuffer: !intoBuffer)
        let second = sort(middle, upper, intoBuffer: !intoBuffer)
        error = error ?? second
      }
      let runs = MergedRuns(left: lower..<middle, right: middle..<upper, output: lower, intoBuffer: intoBuffer)
      if error != nil || state.pointee.hasFailed.load(ordering: .relaxed) {
        moveRest(runs)
        return error
      }
      let (isOutOfOrder, failure) = isLess(middle, middle - 1, !intoBuffer, memory)
      if let failure { return fail(failure, runs) }
      if isOutOfOrder { return mergeRuns(runs) }
      moveRest(runs)
      return nil
    }

    func sortSerially(_ lower: Int, _ upper: Int, intoBuffer: Bool) -> (any Error)? {
      let start = state.pointee.time.now
      let error = sortLeaf(lower, upper, intoBuffer, memory)
      if error != nil { state.pointee.hasFailed.store(true, ordering: .relaxed) }
      if state.pointee.measured.load(ordering: .relaxed) == 0 {
        var pace = LoopPace()
        pace.learn(state.pointee.time.now(after: start) &- start, upper - lower)
        state.pointee.measured.store(pace.word, ordering: .relaxed)
      }
      return error
    }

    func mergeRuns(_ whole: MergedRuns) -> (any Error)? {
      var runs = whole
      var pace = LoopPace(chunk: leastSplitMerge)
      let time = state.pointee.time
      var now = time.now
      while runs.left < runs.leftEnd, runs.right < runs.rightEnd, !state.pointee.hasFailed.load(ordering: .relaxed) {
        if let error = merge(&runs, pace.chunk, memory) { return fail(error, runs) }
        let before = now
        now = time.now(after: before)
        pace.learn(now &- before, pace.chunk)
        guard runs.count >= leastSplitMerge, ForkDemand.isHere(), pace.isWorthFork(runs.count) else { continue }
        let (parts, error) = split(runs)
        if let error { return fail(error, runs) }
        let errors = forkAndJoin({ mergeRuns(parts.0) }, { mergeRuns(parts.1) })
        return errors.first ?? errors.second
      }
      moveRest(runs)
      return nil
    }

    /// Two merges, of what comes before and what comes behind the middle of the longer run.
    func split(_ runs: MergedRuns) -> ((MergedRuns, MergedRuns), (any Error)?) {
      let leftIsLonger = runs.leftEnd - runs.left >= runs.rightEnd - runs.right
      let pivot = leftIsLonger ? (runs.left + runs.leftEnd) / 2 : (runs.right + runs.rightEnd) / 2
      var (low, high) = leftIsLonger ? (runs.right, runs.rightEnd) : (runs.left, runs.leftEnd)
      while low < high {
        let middle = (low + high) / 2
        // Of equal elements those of the left run come first.
        let (isBefore, error) =
          leftIsLonger
          ? isLess(middle, pivot, !runs.intoBuffer, memory) : isLess(pivot, middle, !runs.intoBuffer, memory)
        if let error { return ((runs, runs), error) }
        if isBefore == leftIsLonger { low = middle + 1 } else { high = middle }
      }
      let (left, right) = leftIsLonger ? (pivot, low) : (low, pivot)
      let first = MergedRuns(
        left: runs.left..<left, right: runs.right..<right, output: runs.output, intoBuffer: runs.intoBuffer)
      let second = MergedRuns(
        left: left..<runs.leftEnd, right: right..<runs.rightEnd, output: runs.output + first.count,
        intoBuffer: runs.intoBuffer)
      return ((first, second), nil)
    }

    return sort(0, count, intoBuffer: false)
  }
}
