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

  override func main() {
    fetch(url) { [self] image in
      self.image = image
      finish()
    }
  }
}

final class ImageLoader: Sendable {
  typealias Handler = @Sendable (String?) -> Void

  private let downloads = Mutex<[String: Download]>([:])
  private let network = OperationQueue()
  private let answers = OperationQueue()

  init() {
    network.maxConcurrentOperationCount = 6
    answers.maxConcurrentOperationCount = 1
  }

  /// Calls the handler once, with the image or with nil.
  /// A second request for a URL joins the download of the first.
  @discardableResult
  func load(_ url: String, _ handler: @escaping Handler) -> Download {
    let new = Download(url)
    let download = downloads.withLock { known in
      if let earlier = known[url] { return earlier }
      known[url] = new
      return new
    }
    let answer = BlockOperation { handler(download.image) }
    answer.addDependency(download)
    answers.addOperation(answer)
    if download === new { network.addOperation(download) }
    return download
  }

  func waitForAnswers() { answers.waitUntilAllOperationsAreFinished() }
}

let loader = ImageLoader()
for url in ["cat.png", "dog.png", "cat.png"] {
  loader.load(url) { print($0 ?? "\(url) is not loaded") }
}
loader.waitForAnswers()
