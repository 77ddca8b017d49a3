/// An error message of one line for the user, with an exit code of sysexits.h that a script can act on.
package struct Complaint: Error, Equatable, CustomStringConvertible {
  package enum Code: Int32, Sendable {
    case usage = 64
    case badInput = 65
    case noInput = 66
    case unavailable = 69
    case software = 70
    case cannotCreate = 73
    case inputOutput = 74
  }

  package let code: Code
  package let description: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    description = Printable.name(message.split(whereSeparator: \.isNewline).joined(separator: " "))
  }
}
