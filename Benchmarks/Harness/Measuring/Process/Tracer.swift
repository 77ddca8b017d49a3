/// The functions that record the operations of this process. The program gets them from the library.
package struct Tracer {
  /// Whether operations are being recorded, because the environment says so.
  package let isOn: () -> Bool
  package let start: () -> Void
  package let stop: () -> Void
  /// Writes the events; returns how many operations ran, and how many events are not shown.
  package let write: (TraceRequest) throws -> (operations: Int, notShown: Int)

  package init(
    isOn: @escaping () -> Bool, start: @escaping () -> Void, stop: @escaping () -> Void,
    write: @escaping (TraceRequest) throws -> (operations: Int, notShown: Int)
  ) {
    (self.isOn, self.start, self.stop, self.write) = (isOn, start, stop, write)
  }
}
