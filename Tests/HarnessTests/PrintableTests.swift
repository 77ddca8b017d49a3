import Testing

@testable import HarnessWords

/// Text out of files does nothing to a terminal.
struct PrintableTests {
  @Test func controlCharactersAreShownAsNumbers() {
    #expect(Printable.name("a\u{1B}[2Jb\n\u{9B}1m\u{7F}") == "a\\u{1B}[2Jb\\u{A}\\u{9B}1m\\u{7F}")
    #expect(Printable.name("\u{202E}gnol") == "\\u{202E}gnol" && Printable.name("\u{2028}") == "\\u{2028}")
    for text in ["plain", "größer 时间 👩‍💻 é", ""] { #expect(Printable.name(text) == text) }
    #expect(Printable.document("a\r\n\tb\u{7}") == "a\r\n\tb\\u{7}")
  }

  @Test func complaintsAndParametersAreHarmless() {
    #expect(Complaint(.usage, "no '\u{1B}]0;x\u{7}'").description == "no '\\u{1B}]0;x\\u{7}'")
    #expect(Complaint(.usage, "two\nlines").description == "two lines")
    #expect((["a\u{1B}": "b\nc\u{7}"] as Parameters).description == "a_=b_c_")
  }
}
