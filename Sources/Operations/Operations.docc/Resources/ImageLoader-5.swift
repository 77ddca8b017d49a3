import Operations
import Synchronization

/// Stands for the network: answers a moment later.
func fetch(_ url: String) async throws -> String {
  try await Task.sleep(for: .milliseconds(20))
  return "image of \(url)"
}

final class ImageLoader: Sendable {
  typealias Download = TaskOperation<String, any Error>

  private let downloads = Mutex<[String: Download]>([:])
  private let network = OperationQueue(maxConcurrentOperationCount: 6)

  /// Starts the download of a URL, or joins a download of that URL that has been started.
  func download(_ url: String) -> Download {
    let new = Download { try await fetch(url) }
    let download = downloads.withLock { known in
      if let earlier = known[url], !earlier.isCancelled { return earlier }
      known[url] = new
      return new
    }
    if download === new { network.addOperation(download) }
    return download
  }

  /// Waits for an image. No thread waits.
  func image(_ url: String, isUrgent: Bool = false) async throws -> String {
    let download = download(url)
    if isUrgent { download.queuePriority = .veryHigh }
    return try await download.value
  }

  /// Lets go of everything that can be loaded again.
  func memoryWarning() {
    network.cancelAllOperations()
    downloads.withLock { $0 = [:] }
  }
}

let loader = ImageLoader()
let downloads = (1...20).map { loader.download("\($0).png") }
print(try await loader.image("now.png", isUrgent: true))
for download in downloads.suffix(5) { download.cancel() }
for (number, download) in zip(1..., downloads) {
  do {
    print(try await download.value)
  } catch {
    print("\(number).png is not loaded")
  }
}
loader.memoryWarning()
print("again:", try await loader.image("1.png"))
