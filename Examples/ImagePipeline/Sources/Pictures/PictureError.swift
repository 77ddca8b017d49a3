/// Why a picture could not be read or written, or a filter's text not be understood.
public enum PictureError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The bytes are neither a JPEG nor a PNG file.
  case unknownFormat
  /// The file is cut short, or its bytes have been changed. With the words of the library that found it.
  case damaged(String)
  /// The picture has more pixels than the limits allow. No memory was taken for them.
  case tooLarge(width: Int, height: Int, maximumPixels: Int)
  /// The file is sound, and of a kind that is not read.
  case unsupported(String)
  /// The picture cannot be written in the format that was asked for.
  case notEncodable(String)
  /// No filter has this name.
  case unknownFilter(String)
  /// A filter's number is missing, is no number, or is out of range. For a filter without a number the range is nil.
  case wrongNumber(of: String, text: String, range: ClosedRange<Int>?)

  /// One line: what was wrong, and what would be right.
  public var description: String {
    switch self {
    case .unknownFormat: "the bytes are no picture: a JPEG or PNG file was expected"
    case .damaged(let reason): "the picture file is damaged (\(reason)): a complete, unchanged file was expected"
    case .tooLarge(let width, let height, let maximum):
      "the picture has \(width) x \(height) pixels: at most \(maximum) pixels are allowed"
    case .unsupported(let reason): "the picture cannot be read: \(reason)"
    case .notEncodable(let reason): "the picture cannot be written: \(reason)"
    case .unknownFilter(let name):
      "there is no filter \(Self.quoted(name)): the filters are \(Processing.Filter.forms.joined(separator: ", "))"
    case .wrongNumber(let name, let text, let range?):
      "\(name) takes a number from \(range.lowerBound) to \(range.upperBound), as in \(name):\(range.lowerBound): "
        + (text.isEmpty ? "there is none" : "\(Self.quoted(text)) is not one")
    case .wrongNumber(let name, let text, nil):
      "\(name) takes no number: write \(name) instead of \(Self.quoted("\(name):\(text)"))"
    }
  }

  /// Strange text must neither break the line nor fill the screen.
  private static func quoted(_ text: String) -> String {
    String(text.prefix(40)).debugDescription + (text.count > 40 ? "…" : "")
  }
}
