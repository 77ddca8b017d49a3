/// What records the operations of this process; the program has it from the library.
package struct Tracer {
  /// Whether operations are being recorded, because the environment says so.
  package let isOn: () -> Bool
  package let start: () -> Void
  package let stop: () -> Void
  /// Writes the events and says how many operations ran, and how many events are not shown.
  package let write: (TraceRequest) throws -> (operations: Int, notShown: Int)

  package init(
    isOn: @escaping () -> Bool, start: @escaping () -> Void, stop: @escaping () -> Void,
    write: @escaping (TraceRequest) throws -> (operations: Int, notShown: Int)
  ) {
    self.isOn = isOn
    self.start = start
    self.stop = stop
    self.write = write
  }
}
