import Glibc

/// How a report writes numbers beside marks and in sentences.
extension NumberFormat {
  /// Two significant digits are enough beside a mark.
  package static func short(_ value: Double) -> String {
    let bounds = [9.95, 0.995, 0.0995, 0.00995, 0.000995, 0.0000995]
    guard value != 0, let digits = bounds.firstIndex(where: { abs(value) >= $0 }) else { return significant(value) }
    return fixed(value, digits: digits)
  }

  /// So many significant digits at most, without zeros at the end: `%g` of C.
  package static func general(_ value: Double, digits: Int) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      let length = withVaList([Int32(digits), value]) { vsnprintf(text.baseAddress!, text.count, "%.*g", $0) }
      return String(decoding: text[..<min(Int(length), text.count - 1)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  /// A whole number with commas: `1,234`.
  package static func grouped(_ number: Int) -> String {
    let digits = Array("\(number.magnitude)")
    let text = digits.enumerated().map { place, digit in
      let left = digits.count - place
      return place > 0 && left.isMultiple(of: 3) ? ",\(digit)" : "\(digit)"
    }.joined()
    return number < 0 ? "-\(text)" : text
  }
}
