import HarnessMeasuring
import Operations

/// The library's own recording, in the form that the harness needs.
enum LibraryTracer {
  static var tracer: Tracer {
    Tracer(
      isOn: { OperationTrace.isOn }, start: { OperationTrace.start() }, stop: { OperationTrace.stop() },
      write: { request in
        let written = try OperationTrace.stop().writeEvents(
          to: request.file, process: request.process, name: request.name, operationLimit: request.operationLimit)
        return (written.operations, written.dropped)
      })
  }
}
