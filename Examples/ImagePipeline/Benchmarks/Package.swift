// swift-tools-version: 6.3
import PackageDescription

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

/// A package of its own, so that a program that uses the pipeline fetches nothing for the measurements.
let package = Package(
  name: "PictureBenchmarks",
  dependencies: [
    .package(name: "ImagePipeline", path: ".."),
    // From elsewhere: .package(url: "…/opbench", branch: "main", traits: ["Laboratory"])
    .package(name: "opbench", path: "../../..", traits: ["Laboratory"]),
  ],
  targets: [
    .target(
      name: "Arms",
      dependencies: [
        .product(name: "ImagePipeline", package: "ImagePipeline"), .product(name: "Pictures", package: "ImagePipeline"),
        .product(name: "HTTPTransport", package: "ImagePipeline"), .product(name: "Operations", package: "opbench"),
        .product(name: "OperationComposition", package: "opbench"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "picturebench", dependencies: ["Arms", .product(name: "Laboratory", package: "opbench")],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
