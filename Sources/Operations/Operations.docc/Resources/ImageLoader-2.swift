import Operations

/// Stands for the network: answers a moment later.
func fetch(_ url: String) async throws -> String {
  try await Task.sleep(for: .milliseconds(20))
  return "image of \(url)"
}

let network = OperationQueue(maxConcurrentOperationCount: 6)
let downloads = (1...20).map { number in
  network.addTask { try await fetch("\(number).png") }
}
var images: [String] = []
for download in downloads { images.append(try await download.value) }
print(images.count, "images")
