/// Traps with a message, in release builds too.
@inline(__always)
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fatalError("Operations: \(message())") }
}
