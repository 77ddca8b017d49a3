import FoundationEssentials
import Glibc
import HarnessMeasuring
import LaboratorySupport
import TestSupport
import Testing

/// `opbench verify`: a published campaign is what its manifest says, and its tables are what its rows say.
@Suite(.ownThread) struct VerifyCommandTests {
  let folder = TemporaryFolder()
  private var archive: String { "\(folder.path)/campaign" }

  /// A run of two blocks, a figure of its rows, a page, and the manifest.
  private func publish() throws {
    mkdir(archive, 0o755)
    let run = BuiltOpbench.run(
      "run", "--quick", "--blocks", "2", "--values", "1", "--backend", "raw-dispatch", "--benchmark",
      "overhead/local-add", "--output", "\(archive)/a.csv")
    #expect(run.code == 0, "\(run)")
    shell("sum=$(sha256sum a.csv | cut -c 1-64); echo \"<svg>sha256:$sum</svg>\" >a.svg; echo words >page.md")
    let written = BuiltOpbench.run("verify", "--write", archive)
    #expect(written.code == 0, "\(written)")
  }

  private func shell(_ script: String) {
    let outcome = ProcessRunner.run("sh", ["-euc", "cd \"$0\"; \(script)", archive], timeout: 60)
    #expect(outcome.ending == .exited(0), "\(outcome)")
  }

  private func expectWhole(_ path: String) {
    let verified = BuiltOpbench.run("verify", path)
    #expect(verified.code == 0, "\(verified)")
    #expect(verified.output.first?.hasPrefix("a.csv: seed ") == true, "\(verified)")
    #expect(
      verified.output.last?.hasSuffix("4 files as MANIFEST says, 1 result with environments, tables as the rows say")
        == true)
  }

  @Test func anArchiveIsChecked() throws {
    try publish()
    let manifest = try #require(folder.read("campaign/MANIFEST"))
    #expect(manifest.hasPrefix("# opbench-archive 1\n# table a.txt: compare a.csv\n"), "\(manifest)")
    #expect(folder.read("campaign/a.txt")?.contains("overhead/local-add") == true)
    expectWhole(archive)
    // Others read it without opbench.
    shell("sha256sum --check --quiet --strict MANIFEST")
    // A user may pack the folder, or the files in the folder. Pages may change.
    shell("echo more >>page.md; tar -czf ../with.tar.gz -C .. campaign; tar -cf ../without.tar .")
    expectWhole("\(folder.path)/with.tar.gz")
    expectWhole("\(folder.path)/without.tar")
    // Tables and checksums follow what is there.
    shell(
      "cp a.csv b.csv; cp a.env.json b.env.json; rm a.txt; gzip -n a.csv; sum=$(sha256sum b.csv | cut -c 1-64); echo \"sha256:$sum\" >a.svg"
    )
    expectComplaint(65, ["a.txt cannot be made again", "a.csv"], ["verify", "--write", archive])
    shell("rm MANIFEST")
    #expect(BuiltOpbench.run("verify", "--write", archive).code == 0)
    #expect(BuiltOpbench.run("verify", archive).output.count == 3)
    #expect(
      folder.read("campaign/MANIFEST")?.contains("# table a.txt: compare a.csv.gz\n# table b.txt: compare b.csv\n")
        == true)
  }

  /// Each is one line that names the file.
  @Test func whatIsWrongIsOneLine() throws {
    try publish()
    shell("cp -r . ../right")
    func wrong(_ script: String, _ words: [String], sourceLocation: SourceLocation = #_sourceLocation) {
      shell("rm -rf ../campaign/*; cp -r ../right/. .; \(script)")
      expectComplaint(65, words, ["verify", archive], sourceLocation: sourceLocation)
    }
    // The manifest is made again for what somebody has changed on purpose.
    let remade = "{ grep '^#' ../right/MANIFEST; sha256sum a.*; } >MANIFEST"
    wrong("rm a.svg", ["campaign: a.svg is missing"])
    wrong("printf x | dd of=a.csv bs=1 seek=700 conv=notrunc 2>/dev/null", ["a.csv was changed"])
    wrong("echo >b.txt", ["b.txt is in no line of its MANIFEST"])
    wrong("mkdir sub; ln -s ../a.csv sub/a.csv", ["sub/a.csv is no plain file"])
    wrong("rm MANIFEST", ["there is no MANIFEST in it", "verify --write makes one"])
    wrong("sed -i '1s/1/2/' MANIFEST", ["its MANIFEST has version 2, and this opbench reads version 1"])
    wrong("sed -i 1d MANIFEST", ["does not begin with '# opbench-archive 1'"])
    wrong("echo word >>MANIFEST", ["a line that is no file, no table, or there twice: 'word'"])
    wrong("sed -n '$p' MANIFEST >>MANIFEST", ["or there twice"])
    wrong(
      "sed -i 's/: compare a/: run --output a/' MANIFEST",
      ["the table a.txt made by 'run', and a table is made by compare"])
    wrong("echo 1.0 >>a.txt; \(remade)", ["a.txt is not what its rows say: compare a.csv gives another text"])
    wrong("echo sha256:$(printf %064d 1) >a.svg; \(remade)", ["a.svg is of other rows than those in it"])
    wrong("echo >a.svg; \(remade)", ["a.svg does not say of which rows it is"])
    wrong("rm a.env.json a.txt; sed -i '/table/d' ../right/MANIFEST; \(remade)", ["a.csv has no environment beside it"])
    wrong("rm a.txt; sed -i 's/\"schema\" : 3/\"schema\" : 9/' a.env.json; \(remade)", ["a.env.json has schema 9"])
    wrong("rm a.txt; head -c 900 ../right/a.csv >a.csv; rm a.svg; \(remade)", ["a.csv"])
  }

  @Test func whatIsNoArchiveIsOneLine() throws {
    expectComplaint(66, ["there is no archive /no/such"], ["verify", "/no/such"])
    expectComplaint(65, ["is no folder, and no file of tar"], ["verify", folder.write("words", to: "words.tar")])
    expectComplaint(64, ["--write is for a folder"], ["verify", "--write", folder.write("words", to: "words.tar")])
    mkdir(archive, 0o755)
    expectComplaint(65, ["there is no result in it"], ["verify", "--write", archive])
  }
}
