// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "Benchmarks",
  dependencies: [
    // Your package, which is the folder above.
    .package(name: "Words", path: ".."),
    // The trait is what the benchmarks need of it: without it six more packages are fetched, and built.
    .package(url: "https://github.com/OWNER/opbench", branch: "main", traits: ["Laboratory"]),
  ],
  targets: [
    .executableTarget(
      name: "wordbench",
      dependencies: [.product(name: "Words", package: "Words"), .product(name: "Laboratory", package: "opbench")])
  ]
)
