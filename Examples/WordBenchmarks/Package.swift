// swift-tools-version: 6.3
import PackageDescription

/// What a change that makes things slower would be: `SLOWER=1 swift build` builds the library with it.
let change: [SwiftSetting] = Context.environment["SLOWER"] == nil ? [] : [.define("SLOWER")]

let package = Package(
  name: "WordBenchmarks",
  dependencies: [
    // From elsewhere: .package(url: "…/opbench", branch: "main", traits: ["Laboratory"])
    .package(name: "opbench", path: "../..", traits: ["Laboratory"])
  ],
  targets: [
    .target(name: "Words", swiftSettings: change),
    .executableTarget(
      name: "wordbench",
      dependencies: [
        "Words", .product(name: "Laboratory", package: "opbench"), .product(name: "Operations", package: "opbench"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
