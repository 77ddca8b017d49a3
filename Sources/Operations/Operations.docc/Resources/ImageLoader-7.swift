import Operations
import Synchronization

/// Stands for the network: answers a moment later, on a thread of its own.
func fetch(_ url: String, _ done: @escaping @Sendable (String?) -> Void) {
  DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) {
    done("image of \(url)")
  }
}

final class Download: AsynchronousOperation, @unchecked Sendable {
  // Sendable: `url` never changes, and `image` is read after the finish.
  let url: String
  private(set) var image: String?

  init(_ url: String) {
    self.url = url
    super.init()
  }

  /// Whether another request may share this download.
  var canBeJoined: Bool { !isCancelled && !(isFinished && image == nil) }

  override func main() {
    fetch(url) { [self] image in
      if !isCancelled { self.image = image }
      finish()
    }
  }
}

final class ImageLoader: Sendable {
  typealias Handler = @Sendable (String?) -> Void

  private let downloads = Mutex<[String: Download]>([:])
  private let network = OperationQueue(maxConcurrentOperationCount: 6)
  private let answers = OperationQueue(maxConcurrentOperationCount: 1)

  /// Calls the handler once, with the image or with nil.
  /// A second request for a URL joins the download of the first.
  @discardableResult
  func load(
    _ url: String, isUrgent: Bool = false, _ handler: @escaping Handler
  ) -> Download {
    let new = Download(url)
    let download = downloads.withLock { known in
      if let earlier = known[url], earlier.canBeJoined { return earlier }
      known[url] = new
      return new
    }
    if isUrgent { download.queuePriority = .veryHigh }
    let answer = BlockOperation { handler(download.image) }
    answer.addDependency(download)
    answers.addOperation(answer)
    if download === new { network.addOperation(download) }
    return download
  }

  /// Whether the image is here.
  func has(_ url: String) -> Bool {
    downloads.withLock { $0[url].map { $0.isFinished && $0.image != nil } ?? false }
  }

  /// Lets go of everything that can be loaded again.
  func memoryWarning() {
    network.cancelAllOperations()
    downloads.withLock { $0 = [:] }
  }

  func waitForAnswers() { answers.waitUntilAllOperationsAreFinished() }
}

let loader = ImageLoader()

/// A sheet with a sign for each image, five in a row. Made once, drawn often.
let sheet = OperationGraph(of: String.self) { graph in
  let rows = (0..<4).map { row in
    let signs = (1...5).map { column in
      let url = "\(5 * row + column).png"
      return graph.add(name: url) { loader.has(url) ? "■" : "□" }
    }
    return signs.dropFirst().reduce(signs[0]) { row, sign in graph.add(row, sign) { $0 + $1 } }
  }
  return rows.dropFirst().reduce(rows[0]) { sheet, row in graph.add(sheet, row) { $0 + "\n" + $1 } }
}

let downloads = (1...20).map { number in
  loader.load("\(number).png") { print($0 ?? "\(number).png is not loaded") }
}
loader.load("now.png", isUrgent: true) {
  print($0 ?? "now.png is not loaded")
}
for download in downloads.suffix(5) { download.cancel() }
loader.waitForAnswers()
print(try sheet.run())
loader.memoryWarning()
print(try sheet.run())
loader.load("1.png") { print("again:", $0 ?? "1.png is not loaded") }
loader.waitForAnswers()
