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
    let published = try CostModel.manyCPUs.json()
    #expect(try CostModel.parse(Data(published.utf8), source: "m.json") == .manyCPUs)
  }

  @Test func theGroupsOfTheMachineAreChecked() throws {
    let text = try CostModel.manyCPUs.json()
    for (wrong, words) in [
      ("\"group\" : 0", "m.json: 'machine.group' is 0; it is from 1 to 1024"),
      ("\"group\" : 7", "m.json: 'machine.socket' is 64: that is no whole number of groups of 7 CPUs"),
    ] {
      let model = text.replacing("\"group\" : 8", with: wrong)
      #expect(model != text && complaint(model)?.description == words)
    }
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
    let text = try CostModel.builtIn.json().replacing("\"schema\" : 2", with: "\"schema\" : 1")
    let mistake = try #require(complaint(text))
    #expect(mistake.code == .badInput)
    #expect(
      mistake.description
        == "m.json: the model has schema 1, and this opbench reads schema 2; opbench calibrate-model writes one")
  }

  @Test func whatIsNoModelIsSaid() throws {
    #expect(complaint("{")?.description == "m.json: this is no model; opbench calibrate-model writes one")
    #expect(complaint("{\"schema\": 1}")?.code == .badInput)
    let lacking = try CostModel.builtIn.json().replacing("\"edge\"", with: "\"eddy\"")
    #expect(complaint(lacking)?.description == "m.json: the model lacks the value 'edge'")
    let negative = try CostModel.builtIn.json().replacing("\"ns\" : ", with: "\"ns\" : -")
    #expect(complaint(negative)?.description.hasSuffix(" ns; it is from 0 to a second") == true)
  }

  @Test func everyParameterIsInTheBuiltInModelsAndIsMeasuredOrExplained() {
    for parameter in CostModel.parameters {
      for model in [CostModel.builtIn, .manyCPUs] {
        let value = model.values[parameter.name]
        #expect(value.map { !$0.from.isEmpty } ?? false, "\(parameter.name)")
      }
      let isMeasured = ModelMeasurement.origins[parameter.name] != nil
      #expect(isMeasured || parameter.name.contains("_other_"), "\(parameter.name)")
    }
  }

  @Test func whatAMachineHasBetweenSocketsIsMeasured() throws {
    var calibration = ModelCalibration()
    var values = ModelMeasurement.origins.mapValues { _ in 1.0 }
    for base in ["transfer", "steal", "miss", "glance"] { values[base + "_other_socket"] = 77 }
    for _ in 1...6 { try calibration.add(ModelCalibration.lines(of: values).split(separator: "\n").map(String.init)) }
    let model = calibration.model(name: "test", source: #filePath)
    #expect(model.values["miss_other_socket"]?.ns == 77 && model.values["miss_other_socket"]?.low == 77)
    #expect(model.values["miss_other_socket"]?.from.hasSuffix("by CPUs that far apart") == true)
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
    // No round has it: the ratio is that of the published model, 197 by 23.
    #expect(model.values["steal_other_socket"]?.ns == 342.6)
    #expect(model.values["steal_other_socket"]?.from.hasSuffix("not measured") == true)
    #expect(throws: Complaint.self) { try calibration.add(["steal 3"]) }
  }
}
