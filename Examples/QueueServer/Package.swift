// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "QueueServer",
  dependencies: [
    // From elsewhere: .package(url: "…/opbench", branch: "main", traits: [])
    .package(name: "opbench", path: "../..", traits: []),
    .package(url: "https://github.com/swhitty/FlyingFox.git", from: "0.27.0"),
  ],
  targets: [
    .executableTarget(
      name: "QueueServer",
      dependencies: ["FlyingFox", .product(name: "Operations", package: "opbench")])
  ],
  swiftLanguageModes: [.v6]
)
