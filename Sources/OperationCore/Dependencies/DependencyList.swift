import CPlatform
import Primitives

/// A dependency and the edge to it, in memory of the operation that depends.
struct DependencyRecord {
  /// The dependency, and flags in its low bits. 0: a hole.
  var word: UInt
  /// The next edge in the dependency's stack, while this edge stands there.
  var next: UInt

  /// The edge was pushed: it stands in the dependency's stack, or has fired. Such a record keeps its place in memory.
  static let linked: UInt = 1
  /// The dependency is not in the list any more: only its edge is left.
  static let unlisted: UInt = 2
  /// The edge does not count when the edge fires: the dependency was removed.
  static let void: UInt = 4
  /// The record's edge is the one inside the operation.
  static let inside: UInt = 8
  static let flags: UInt = 15
}

/// These members never read `next`: the thread that releases the edge may be writing `next`.
extension UnsafeMutablePointer<DependencyRecord> {
  @inline(__always) func has(_ flag: UInt) -> Bool { pointee.word & flag != 0 }
  @inline(__always) var dependency: UInt { pointee.word & ~DependencyRecord.flags }
  /// Holds a reference to the dependency.
  @inline(__always) var isListed: Bool { pointee.word > DependencyRecord.flags && !has(DependencyRecord.unlisted) }
}

/// Records of one operation. The fields after `following` count only in the first chunk of a list.
///
/// In memory one word stands before the chunk: the operation. The records stand behind the chunk. The operation's
/// word is no part of this structure, because a thread that releases an edge reads the word without the operation's
/// lock.
struct DependencyChunk {
  static let capacity = 5
  static let ownerSize = UInt(MemoryLayout<UInt>.size)
  var following: UInt = 0
  /// The edge that the next record gets: in the last chunk, or one place behind its end.
  var end: UInt
  /// Records in all chunks, holes included: every chunk except the last is full.
  var count = 0
  /// The index; or, with bit 0 set, a filter: a bit for each dependency that was ever appended, several to a bit. Most
  /// lists are short, and most dependencies that are added are not in the list: the filter saves the search.
  private var indexOrFilter: UInt = 1

  var index: UnsafeMutablePointer<DependencyIndex>? {
    @inline(__always) get { indexOrFilter & 1 == 0 ? UnsafeMutablePointer(bitPattern: indexOrFilter) : nil }
    // Without an index again, the filter knows nothing: everything may be in the list.
    set { indexOrFilter = newValue.map { UInt(bitPattern: $0) } ?? .max }
  }

  @inline(__always)
  private static func filterBit(_ dependency: UInt) -> UInt {
    1 << ((dependency &* UInt(truncatingIfNeeded: 0x9E37_79B9_7F4A_7C15 as UInt64)) >> (UInt.bitWidth - 6))
  }

  /// False when the dependency was never appended.
  @inline(__always)
  func mayHold(_ dependency: UInt) -> Bool {
    indexOrFilter & 1 == 0 || indexOrFilter & Self.filterBit(dependency) != 0
  }

  /// The dependency is about to be appended.
  @inline(__always)
  mutating func noteInFilter(_ dependency: UInt) {
    if indexOrFilter & 1 != 0 { indexOrFilter |= Self.filterBit(dependency) }
  }

  /// - Returns: a chunk without records.
  @inline(__always)
  static func make(owner: UInt) -> UnsafeMutablePointer<DependencyChunk> {
    let memory = SpareChunks.take()
    let word = UInt(bitPattern: memory)
    memory.storeBytes(of: owner, as: UInt.self)
    let chunk = DependencyList.chunk(word)
    chunk.initialize(to: DependencyChunk(end: DependencyList.firstEdge(of: word)))
    return chunk
  }
}

/// The dependencies of an operation in the order of adding, each once, with their edges. The records lie in chunks,
/// and the first chunk stands for the list. Adding, finding and removing are O(1); finding and removing on average.
/// Not synchronised.
///
/// An edge is a word: the address of a chunk, plus 2, plus the record's place in that chunk.
struct DependencyList {
  let first: UnsafeMutablePointer<DependencyChunk>

  /// Up to this many records a search is as quick as an index.
  static let searchLimit = 32

  init(owner: UInt) { first = DependencyChunk.make(owner: owner) }
  init(word: UInt) { first = Self.chunk(word) }

  var word: UInt { UInt(bitPattern: first) &- DependencyChunk.ownerSize }

  // MARK: - Places

  @inline(__always)
  static func record(_ edge: UInt) -> UnsafeMutablePointer<DependencyRecord> {
    let header = DependencyChunk.ownerSize + UInt(MemoryLayout<DependencyChunk>.size)
    let place = (edge & 15) &- 2
    return UnsafeMutablePointer(
      bitPattern: (edge & ~15) &+ header &+ place &* UInt(MemoryLayout<DependencyRecord>.stride)
    ).unsafelyUnwrapped
  }

  /// The operation whose list has the edge.
  @inline(__always)
  static func owner(of edge: UInt) -> UInt {
    UnsafePointer<UInt>(bitPattern: edge & ~15).unsafelyUnwrapped.pointee
  }

  @inline(__always)
  static func firstEdge(of chunk: UInt) -> UInt { chunk &+ 2 }

  @inline(__always)
  static func chunk(_ word: UInt) -> UnsafeMutablePointer<DependencyChunk> {
    UnsafeMutablePointer(bitPattern: word &+ DependencyChunk.ownerSize).unsafelyUnwrapped
  }

  /// Calls `body` with every record, holes included, until `body` returns false.
  /// - Parameter start: the edge to begin with; 0 for the list's first.
  @inline(__always)
  func forEachRecord(
    from start: UInt = 0, _ body: (_ edge: UInt, _ record: UnsafeMutablePointer<DependencyRecord>) -> Bool
  ) {
    let end = first.pointee.end
    var edge = start == 0 ? Self.firstEdge(of: word) : start
    while edge != end {
      if edge & 15 == 2 + UInt(DependencyChunk.capacity) {
        edge = Self.firstEdge(of: Self.chunk(edge & ~15).pointee.following)
      }
      if !body(edge, Self.record(edge)) { return }
      edge &+= 1
    }
  }

  @inline(__always)
  func forEachListed(_ body: (UnsafeMutablePointer<DependencyRecord>) -> Void) {
    forEachRecord { _, record in
      if record.isListed { body(record) }
      return true
    }
  }

  // MARK: - Finding

  /// False when the list certainly does not hold the dependency. O(1).
  @inline(__always)
  func mayHold(_ dependency: UInt) -> Bool { first.pointee.mayHold(dependency) }

  /// The edge whose record lists the dependency, or 0.
  func find(_ dependency: UInt) -> UInt {
    if first.pointee.count > Self.searchLimit { return indexed.pointee.listed[dependency] ?? 0 }
    return search { $0.isListed && $0.dependency == dependency }
  }

  /// The edge of a dependency that was removed while its edge stood in the dependency's stack; 0 for none.
  func findUnlisted(_ dependency: UInt) -> UInt {
    if first.pointee.count > Self.searchLimit { return indexed.pointee.unlisted[dependency] ?? 0 }
    return search { $0.has(DependencyRecord.unlisted) && $0.dependency == dependency }
  }

  /// The first dependency for which `isOver` is false; 0 when there is none. Once true for a dependency, `isOver` must
  /// stay true: a long list does not ask again about the dependencies before the one found. So n calls that find
  /// n dependencies one after the other take O(n) time together.
  func firstDependency(except isOver: (UInt) -> Bool) -> UInt {
    let index = first.pointee.count > Self.searchLimit ? indexed : nil
    var dependency: UInt = 0
    var place = first.pointee.end
    forEachRecord(from: index?.pointee.firstNotOver ?? 0) { edge, record in
      guard record.isListed, !isOver(record.dependency) else { return true }
      dependency = record.dependency
      place = edge
      return false
    }
    index?.pointee.firstNotOver = place
    return dependency
  }

  /// The edge whose record says that it stands for the edge inside the operation; 0 for none.
  func findInside() -> UInt { search { $0.has(DependencyRecord.inside) } }

  @inline(__always)
  private func search(_ condition: (UnsafeMutablePointer<DependencyRecord>) -> Bool) -> UInt {
    var matching: UInt = 0
    forEachRecord { edge, record in
      guard condition(record) else { return true }
      matching = edge
      return false
    }
    return matching
  }

  // MARK: - Changing

  /// - Parameter record: a dependency with its flags.
  /// - Returns: the record's edge.
  @discardableResult
  func append(_ record: UInt) -> UInt {
    var edge = first.pointee.end
    if edge & 15 == 2 + UInt(DependencyChunk.capacity) { edge = addChunk() }
    Self.record(edge).initialize(to: DependencyRecord(word: record, next: 0))
    first.pointee.end = edge &+ 1
    first.pointee.count &+= 1
    first.pointee.noteInFilter(record & ~DependencyRecord.flags)
    if let index = first.pointee.index { index.pointee.note(edge) }
    return edge
  }

  @inline(never)
  private func addChunk() -> UInt {
    let chunk = DependencyList(owner: Self.owner(of: word)).word
    Self.chunk(first.pointee.end & ~15).pointee.following = chunk
    return Self.firstEdge(of: chunk)
  }

  /// Sets or clears a flag of a record that keeps its place.
  func change(_ edge: UInt, to word: UInt) {
    let index = first.pointee.index
    index?.pointee.forget(edge)
    Self.record(edge).pointee.word = word
    index?.pointee.note(edge)
  }

  /// Takes out a record whose edge stands in no stack and never will. The caller has the record's reference.
  func remove(_ edge: UInt) {
    if let index = first.pointee.index {
      index.pointee.forget(edge)
      index.pointee.holes += 1
      Self.record(edge).pointee.word = 0
      if index.pointee.holes * 2 > first.pointee.count { squeeze() }
    } else {
      Self.record(edge).pointee.word = 0
      squeeze()
    }
  }

  /// Moves records to holes before them, as long as no record that keeps its place comes to stand before a record
  /// that was added earlier. The index is made anew when it is needed.
  private func squeeze() {
    dropIndex()
    var target = Cursor(self)
    var source = Cursor(self)
    var kept = 0
    for position in 0..<first.pointee.count {
      let record = source.next()
      guard record.pointee.word != 0 else { continue }
      if record.has(DependencyRecord.linked) {
        // Every place before this record that is not filled stays a hole.
        while kept < position {
          target.next().pointee.word = 0
          kept += 1
        }
        _ = target.next()
      } else {
        let place = target.next()
        if place != record {
          place.pointee.word = record.pointee.word
          record.pointee.word = 0
        }
      }
      kept += 1
    }
    shrink(to: kept)
  }

  private func shrink(to count: Int) {
    first.pointee.count = count
    var chunk = word
    for _ in 0..<max(0, count - 1) / DependencyChunk.capacity { chunk = Self.chunk(chunk).pointee.following }
    first.pointee.end =
      Self.firstEdge(of: chunk) &+ UInt(count - max(0, count - 1) / DependencyChunk.capacity * DependencyChunk.capacity)
    var surplus = Self.chunk(chunk).pointee.following
    Self.chunk(chunk).pointee.following = 0
    while surplus != 0 {
      let following = Self.chunk(surplus).pointee.following
      SpareChunks.giveBack(surplus)
      surplus = following
    }
  }

  /// Walks over the records of a list.
  private struct Cursor {
    var chunk: UInt
    var place: UInt = 0

    init(_ list: DependencyList) { chunk = list.word }

    mutating func next() -> UnsafeMutablePointer<DependencyRecord> {
      if place == DependencyChunk.capacity {
        chunk = DependencyList.chunk(chunk).pointee.following
        place = 0
      }
      place += 1
      return DependencyList.record(chunk &+ 1 &+ place)
    }
  }

  /// Gives back the memory. No edge may stand in a stack, and nobody may refer to a record.
  func deallocate() {
    dropIndex()
    var chunk = word
    while chunk != 0 {
      let following = Self.chunk(chunk).pointee.following
      SpareChunks.giveBack(chunk)
      chunk = following
    }
  }

  // MARK: - Index

  private var indexed: UnsafeMutablePointer<DependencyIndex> {
    if let index = first.pointee.index { return index }
    let index = UnsafeMutablePointer.holding(DependencyIndex(count: first.pointee.count))
    forEachRecord { edge, record in
      if record.pointee.word == 0 { index.pointee.holes += 1 } else { index.pointee.note(edge) }
      return true
    }
    first.pointee.index = index
    return index
  }

  private func dropIndex() {
    guard let index = first.pointee.index else { return }
    index.free()
    first.pointee.index = nil
  }
}

/// The places of the records of a long list, by dependency.
struct DependencyIndex: ~Copyable {
  var listed: WordTable
  var unlisted = WordTable(count: 0)
  var holes = 0
  /// Every record before this edge is a hole, unlisted, or lists a dependency that is over: see
  /// `DependencyList.firstDependency`. 0: not known. No record ever comes to be listed again in its place, and a record
  /// moves only when the index is dropped.
  var firstNotOver: UInt = 0

  init(count: Int) { listed = WordTable(count: count) }

  mutating func note(_ edge: UInt) {
    let record = DependencyList.record(edge)
    if record.dependency == 0 { return }
    if record.isListed { listed[record.dependency] = edge } else { unlisted[record.dependency] = edge }
  }

  mutating func forget(_ edge: UInt) {
    let record = DependencyList.record(edge)
    if record.dependency == 0 { return }
    if record.isListed { listed[record.dependency] = nil } else { unlisted[record.dependency] = nil }
  }
}
