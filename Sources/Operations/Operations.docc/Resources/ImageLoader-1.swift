import Operations

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

let queue = OperationQueue()
let download = Download("cat.png")
queue.addOperations([download], waitUntilFinished: true)
print(download.image ?? "not loaded")
