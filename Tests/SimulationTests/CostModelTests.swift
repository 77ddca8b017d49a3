import FoundationEssentials
import HarnessResults
import HarnessWords
import Simulation
import Testing

@Suite struct CostModelTests {
  private func complaint(_ text: String) -> Complaint? {
    do {
      _ = try CostModel.parse(Data(text.utf8), source: "m.json")
      return nil
    } catch {
      return error as? Complaint
    }
  }

  @Test func aModelReadsBackAsItWasWritten() throws {
    let text = try CostModel.builtIn.json()
    #expect(try CostModel.parse(Data(text.utf8), source: "m.json") == .builtIn)
    #expect(CostModel.builtIn.costs.wakeLatency > 0 && CostModel.builtIn.adding > 0)
  }

  /// Tables and rows show the texts of a model.
  @Test(arguments: ["name", "cpu", "from"])
  func aTextThatATerminalWouldObeyIsRefused(key: String) throws {
    let text = try CostModel.builtIn.json()
    let start = try #require(text.firstRange(of: "\"\(key)\" : \""))
    let wrong = "\(text[..<start.lowerBound])\"\(key)\" : \"\\u001b[2J\(text[start.upperBound...])"
    let mistake = try #require(complaint(wrong))
    #expect(mistake.code == .badInput)
    #expect(mistake.description.contains("\(key)' of the model has a line break or another character"), "\(mistake)")
  }

  @Test func aModelOfAnotherSchemaIsRefusedWithOneLine() throws {
    let text = try CostModel.builtIn.json().replacing("\"schema\" : 1", with: "\"schema\" : 2")
    let mistake = try #require(complaint(text))
    #expect(mistake.code == .badInput)
    #expect(
      mistake.description
        == "m.json: the model has schema 2, and this opbench reads schema 1; opbench calibrate-model writes one")
  }

  @Test func whatIsNoModelIsSaid() throws {
    #expect(complaint("{")?.description == "m.json: this is no model; opbench calibrate-model writes one")
    #expect(complaint("{\"schema\": 1}")?.code == .badInput)
    let lacking = try CostModel.builtIn.json().replacing("\"edge\"", with: "\"eddy\"")
    #expect(complaint(lacking)?.description == "m.json: the model lacks the value 'edge'")
    let negative = try CostModel.builtIn.json().replacing("\"ns\" : ", with: "\"ns\" : -")
    #expect(complaint(negative)?.description.hasSuffix(" ns; it is from 0 to a second") == true)
  }

  @Test func everyParameterIsInTheBuiltInModelAndIsMeasuredOrExplained() {
    for parameter in CostModel.parameters {
      let value = CostModel.builtIn.values[parameter.name]
      #expect(value.map { !$0.from.isEmpty } ?? false, "\(parameter.name)")
      let isMeasured = ModelMeasurement.origins[parameter.name] != nil
      #expect(isMeasured || parameter.name.contains("_other_"), "\(parameter.name)")
    }
  }

  @Test func aCalibrationIsTheMedianOfItsRounds() throws {
    var calibration = ModelCalibration()
    for round in 1...7 {
      var values = ModelMeasurement.origins.mapValues { _ in 1.0 }
      values["steal"] = Double(round) * 10
      try calibration.add(ModelCalibration.lines(of: values).split(separator: "\n").map(String.init))
    }
    let model = calibration.model(name: "test", source: #filePath)
    #expect(model.values["steal"]?.ns == 40 && model.values["steal"]?.low != nil)
    #expect(model.values["steal_other_socket"]?.ns == 160)
    #expect(throws: Complaint.self) { try calibration.add(["steal 3"]) }
  }
}
