import Operations

/// Stands for the network: answers a moment later.
func fetch(_ url: String) async throws -> String {
  try await Task.sleep(for: .milliseconds(20))
  return "image of \(url)"
}

let network = OperationQueue()
let download = network.addTask { try await fetch("cat.png") }
print(try await download.value)
