/// A reader of RFC 4180 of its own, so that the writer is not checked by its own idea of the format.
package func parseCSV(_ text: String) -> [[String]] {
  var records: [[String]] = []
  var record: [String] = []
  var field = ""
  var isQuoted = false
  var characters = Array(text.unicodeScalars)[...]
  while let scalar = characters.popFirst() {
    if isQuoted {
      if scalar == "\"" {
        if characters.first == "\"" { field.unicodeScalars.append(characters.removeFirst()) } else { isQuoted = false }
      } else {
        field.unicodeScalars.append(scalar)
      }
    } else if scalar == "\"" {
      isQuoted = true
    } else if scalar == "," {
      record.append(field)
      field = ""
    } else if scalar == "\r", characters.first == "\n" {
      characters.removeFirst()
      records.append(record + [field])
      (record, field) = ([], "")
    } else {
      field.unicodeScalars.append(scalar)
    }
  }
  return records
}

/// The records of a CSV that is being written. What stands behind a zero byte is not there yet.
package func parseUnfinishedCSV(_ text: String) -> [[String]] { parseCSV(String(text.prefix { $0 != "\0" })) }
