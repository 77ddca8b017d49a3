#if HTTP
  import ArgumentParser
  import FoundationEssentials
  import ImagePipeline
  import Logging
  import Operations
  import Pictures
  import ServiceLifecycle

  /// Downloads pictures, changes them, and writes them into a folder.
  @main
  struct ImagePipelineTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "imagepipeline",
      abstract: "Downloads pictures, makes them smaller, filters them, and shows all of them on one sheet.",
      discussion: """
        Exit codes: 0 when every picture was made; 64 wrong arguments; 65 wrong lines in a list, or a cache of another version; 66 a \
        list that cannot be read; 69 pictures that could not be had; 73 a folder that cannot be made; 74 a file that cannot be \
        written; 130 interrupted. What was finished is kept each time.
        """)

    @Argument(help: "Addresses of pictures: http:// or https://.")
    var urls: [String] = []

    @Option(help: "A file with an address in each line. Empty lines and lines that begin with # are skipped.")
    var list: String?

    @Option(help: "The most pixels of a side.")
    var size: Int?

    @Option(help: "A filter: \(Processing.Filter.forms.joined(separator: ", ")). May be given more than once.")
    var filter: [String] = []

    @Option(help: "A field of each request, such as 'Referer: https://example.org/'. May be given more than once.")
    var field: [String] = []

    @Option(help: "The folder for the pictures. Without it no picture is written.")
    var output: String?

    @Option(help: "A PNG file with all pictures on one sheet.")
    var sheet: String?

    @Option(help: "The side of a picture on the sheet, in pixels.")
    var cell = 160

    @Option(help: "A folder that keeps downloads for the next time.")
    var cache: String?

    @Option(help: "The most bytes that the cache keeps, in MiB.")
    var cacheSize = 512

    @Option(help: "Who runs the operations: stealing, dispatch or pool.")
    var backend = "stealing"

    @Option(help: "Downloads at the same time.")
    var downloads = 6

    @Option(help: "Seconds for one attempt of a download.")
    var timeout = 30.0

    @Flag(help: "Says what happens to each picture.")
    var verbose = false

    func run() async throws {
      do {
        let job = try Job(self)
        let code = try await job.runUntilSignal()
        if code != 0 { throw ExitCode(code) }
      } catch let failure as Failure {
        say("imagepipeline: \(failure.line)")
        throw ExitCode(failure.code)
      }
    }

    /// The addresses of the arguments and of the list.
    func addresses() throws -> [String] {
      var addresses = urls
      for url in urls where Address(url) == nil {
        throw Failure(
          64, "'\(Address.shown(url))' is no address of a picture: http://host/name or https://host/name is expected")
      }
      if let list {
        guard let bytes = FileHandles.read(list) else {
          throw Failure(66, "the list \(list) cannot be read")
        }
        var wrong: [String] = []
        // A byte order mark in front is not of the text.
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        let lines = String(decoding: text, as: UTF8.self).split(omittingEmptySubsequences: false) { $0.isNewline }
        for (number, line) in lines.enumerated() {
          let address = line.trimmed
          if address.isEmpty || address.hasPrefix("#") { continue }
          if Address(address) != nil {
            addresses.append(address)
          } else {
            wrong.append("line \(number + 1) '\(Address.shown(address))'")
          }
        }
        if !wrong.isEmpty {
          let shown = wrong.prefix(3).joined(separator: ", ")
          let rest = wrong.count > 3 ? " and \(wrong.count - 3) more" : ""
          throw Failure(65, "\(list): \(shown)\(rest): no address, http://host/name or https://host/name is expected")
        }
      }
      guard !addresses.isEmpty else { throw Failure(64, "nothing to do: name addresses, or a list with --list FILE") }
      return addresses
    }

    /// The fields of the options, with names in lower case.
    func fields() throws -> [String: String] {
      try field.reduce(into: [:]) { fields, text in
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
          parts[0].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw Failure(64, "--field takes a name, a colon and a value, as in 'Referer: https://example.org/'") }
        fields[parts[0].lowercased()] = parts[1].trimmed
      }
    }

    func chosenBackend() throws -> any Backend {
      switch backend {
      case "stealing": return .stealing
      case "dispatch": return .dispatch
      case "pool": return .threadPool
      default: throw Failure(64, "there is no backend '\(backend)': stealing, dispatch and pool exist")
      }
    }

    func processing() throws -> Processing {
      if let size, !(1...65_535).contains(size) { throw Failure(64, "--size \(size): 1 to 65535 pixels are possible") }
      do {
        return Processing(size: size, filters: try filter.map { try Processing.Filter(parsing: $0) })
      } catch {
        throw Failure(64, "\(error)")
      }
    }

    func checkNumbers() throws {
      guard (16...1024).contains(cell) else { throw Failure(64, "--cell \(cell): 16 to 1024 pixels are possible") }
      guard (1...256).contains(downloads) else { throw Failure(64, "--downloads \(downloads): 1 to 256 are possible") }
      guard (1...1_000_000).contains(cacheSize) else {
        throw Failure(64, "--cache-size \(cacheSize): 1 to 1000000 MiB")
      }
      guard timeout > 0, timeout <= 86_400 else {
        throw Failure(64, "--timeout \(timeout): more than 0, up to 86400 s")
      }
    }
  }

  extension Substring {
    var trimmed: String {
      String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
  }
#endif
