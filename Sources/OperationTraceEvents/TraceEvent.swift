/// What a probe records: four words. Objects are words too, never references. The object that a word stood for is
/// found out when the trace is read, from the order of events (see `README.md`).
package struct TraceEvent: Sendable {
  package enum Kind: UInt8, Sendable {
    /// Up to 24 bytes of a string that belongs to the event that follows.
    case text
    /// The queue of this thread's next `added` events. `subject`: the queue; `detail`: its class; text: its name.
    case queue
    /// `subject`: the operation; `detail`: its class; `value`: its level and `AddedFlags`; text: its name.
    case added
    /// `subject` waits for `detail`.
    case edge
    /// `subject` does not wait for `detail` any more.
    case edgeRemoved
    /// The operation may start as soon as a thread is free.
    case ready
    /// `subject`: the operation; `detail`: its class; `value`: its level.
    case begins
    /// The operation finished in its own `start()` on this thread. The finish ends the operation's slice.
    case finishesHere
    /// The operation finished anywhere else.
    case finishes
    /// The operation's `start()` returned, and the operation had not finished on this thread.
    case returns
    /// The operation was cancelled before its start, and finishes without running.
    case skipped
    /// This thread sleeps until the operation has finished.
    case waits
    case waited
    /// This thread runs a fork that another thread made. `subject`: the operation of that thread, or 0.
    case forkBegins
    case forkEnds
    /// This thread runs a node of a graph. `subject`: the operation around the run, or 0; text: the node's name.
    case nodeBegins
    case nodeEnds
    /// This thread runs a part of the body of `subject` behind a suspension.
    case partBegins
    case partEnds
    /// A job of a task is handed over. `subject`: the task's number.
    case taskReady
    /// One of the functions of the task that the next `taskKnown` of this thread is about. `subject`: its address.
    case taskFunction
    /// `subject`: a task's number; `detail`: the function with which it goes on; text: its name. The `taskFunction`s
    /// before it are those that await that function.
    case taskKnown
    /// This thread runs a job of a task. `subject`: the task's number, or 0 for the turn of an actor; `detail`: the
    /// function with which the task goes on; `value`: its priority.
    case taskBegins
    case taskEnds
    /// `subject`: the job; `value`: the thread that the job was taken from.
    case steals
    case parks
    case unparks
    /// `value`: the thread that is woken.
    case wakes
    /// `value`: 1 for a spare worker, beyond the backend's number of workers.
    case threadBegins
    case threadEnds
    /// `value`: how many spare workers a backend adds for bodies that block.
    case addsSpares
    /// A dispatch queue's thread begins to run jobs.
    case calloutBegins
    case calloutEnds

    /// How many kinds there are: the raw values are the numbers below it.
    static let count = Int(calloutEnds.rawValue) + 1
  }

  /// Bits of `value` in `added`, above the level.
  package enum AddedFlags {
    package static let ready: UInt32 = 1 << 8
    package static let noQueue: UInt32 = 1 << 9
    package static let level: UInt32 = 0xFF
  }

  /// CLOCK_MONOTONIC, in nanoseconds.
  package var time: UInt64
  package var subject: UInt
  package var detail: UInt
  package var value: UInt32
  /// The number of text slots directly before this event. In a slot of text: the number of its bytes.
  package var textLength: UInt16
  package var kind: Kind

  package init(
    _ kind: Kind, at time: UInt64, _ subject: UInt = 0, detail: UInt = 0, value: UInt32 = 0, textLength: UInt16 = 0
  ) {
    self.time = time
    self.subject = subject
    self.detail = detail
    self.value = value
    self.textLength = textLength
    self.kind = kind
  }
}

// MARK: - Text

extension TraceEvent {
  static let bytesPerSlot = 24
  /// Longer names are cut.
  package static let longestName = 480

  /// A string as slots of text, cut between characters when it is long.
  package static func slots(of name: String) -> [TraceEvent] {
    var bytes = Array(name.utf8.prefix(longestName + 1))
    if bytes.count > longestName {
      bytes.removeLast()
      while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
      bytes.removeLast()
      bytes += Array("…".utf8)
    }
    return stride(from: 0, to: bytes.count, by: bytesPerSlot).map { start in
      let part = bytes[start..<min(start + bytesPerSlot, bytes.count)]
      var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
      withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: part) }
      return TraceEvent(
        .text, at: words.0, UInt(words.1), detail: UInt(words.2), textLength: UInt16(part.count))
    }
  }

  /// The string that the slots make; nil for none.
  package static func name(in slots: ArraySlice<TraceEvent>) -> String? {
    if slots.isEmpty { return nil }
    var bytes: [UInt8] = []
    for slot in slots {
      withUnsafeBytes(of: (slot.time, UInt64(slot.subject), UInt64(slot.detail))) {
        bytes += $0.prefix(Int(slot.textLength))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
