import LaboratorySupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessResults
@testable import HarnessWords

struct CSVTests {
  @Test func headerOfSchemaTwo() {
    let expected =
      "schema,run_id,block,process,value_index,family,benchmark,params,backend,workers,metric,unit,value,n,host\r\n"
    #expect(CSV.line(CSV.header) == expected)
  }

  @Test(arguments: ["plain", "", "a,b", "say \"so\"", "two\nlines", "carriage\rreturn", "\"", "\",\"\r\n", "ümläut;=é"])
  func roundTrip(field: String) {
    #expect(parseCSV(CSV.line([field, "next"])) == [[field, "next"]])
  }

  @Test func quotesOnlyWhereNeeded() {
    #expect(CSV.line(["a;b=c", "x y", "1.5"]) == "a;b=c,x y,1.5\r\n")
    #expect(CSV.line(["a,b", "\""]) == "\"a,b\",\"\"\"\"\r\n")
  }

  @Test func aRow() {
    let cell = CellKey(
      Scenario(BenchmarkName("priority", "wait-by-level"), ["ops": "2", "graph": "a,b"]),
      Arm(subject: "stealing", workers: 2))
    let reading = Reading(Metric("wait_p50_ns", unit: "ns"), 12.25, count: 10, detail: ["level": "high"])
    let row = Row(runID: "r", host: "n,1", block: 3, process: 7, valueIndex: 1, cell: cell, reading: reading)
    #expect(
      parseCSV(CSV.line(row)) == [
        [
          "2", "r", "3", "7", "1", "priority", "wait-by-level", "graph=a,b;level=high;ops=2", "stealing", "2",
          "wait_p50_ns", "ns", "12.25", "10", "n,1",
        ]
      ])
  }

  @Test(arguments: [0.1, 1.0 / 3, 2.5e-308, 1.7e308, 123456789.125, -2.5, 0, 7, 1e18])
  func numbersReadBackAsTheyWere(value: Double) { #expect(Double(CSV.number(value)) == value) }

  @Test func wholeNumbersHaveNoFraction() {
    #expect(CSV.number(3) == "3")
    #expect(CSV.number(0) == "0")
  }
}

struct ParametersTests {
  @Test func sortedAndReadBack() {
    let parameters: Parameters = ["b": "2", "a": "1"]
    #expect(parameters.description == "a=1;b=2")
    #expect(Parameters("a=1;b=2") == parameters)
    #expect(Parameters("") == [:])
    #expect(Parameters("novalue") == nil)
  }

  @Test func separatorsCannotBreakThem() {
    let parameters: Parameters = ["graph": "a;b=c\nd"]
    #expect(parameters.description == "graph=a_b_c_d")
    #expect(Parameters(parameters.description) == parameters)
  }

  @Test func commonAndOwn() {
    let left: Parameters = ["a": "1", "b": "2"]
    let right: Parameters = ["a": "1", "b": "3"]
    #expect(left.intersection(right) == ["a": "1"])
    #expect(left.without(["a": "1"]) == ["b": "2"])
  }
}

struct ResultLineTests {
  @Test(arguments: [
    ResultLine.reading(valueIndex: 3, Reading(.nsPerOp, 1.0 / 3, count: 7, detail: ["level": "high"])),
    .reading(valueIndex: 0, Reading(.lateStarts, 0, count: 1)), .repeats(12), .failure("what went wrong"),
    .tooShort(call: 1.5, empty: 1.25), .end,
  ])
  func roundTrip(line: ResultLine) { #expect(ResultLine(line.text) == line) }

  @Test(arguments: ["", "ready", "reading\t1\tx", "repeats\tmany", "reading\ta\tb\tc\td\te\tf", "end\t1"])
  func anythingElseIsNoResult(text: String) { #expect(ResultLine(text) == nil) }

  @Test func aFailureStaysOneLine() { #expect(ResultLine.failure("a\nb").text == "failure\ta b") }
}
