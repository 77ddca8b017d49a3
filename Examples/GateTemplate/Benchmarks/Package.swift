// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "Benchmarks",
  dependencies: [
    // Your package, which is the folder above.
    .package(name: "Words", path: ".."),
    .package(url: "https://github.com/OWNER/opbench", branch: "main"),
  ],
  targets: [
    .executableTarget(
      name: "wordbench",
      dependencies: [.product(name: "Words", package: "Words"), .product(name: "Laboratory", package: "opbench")])
  ]
)
