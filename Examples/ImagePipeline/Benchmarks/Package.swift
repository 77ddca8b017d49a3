// swift-tools-version: 6.3
import PackageDescription

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]
let operations: [Target.Dependency] = [
  .product(name: "Operations", package: "opbench"), .product(name: "OperationComposition", package: "opbench"),
]

/// A package of its own: a program that uses the pipeline fetches nothing for the measurements.
let package = Package(
  name: "PictureBenchmarks",
  dependencies: [
    .package(name: "ImagePipeline", path: ".."),
    // From elsewhere: .package(url: "…/opbench", branch: "main", traits: ["Laboratory"])
    .package(name: "opbench", path: "../../..", traits: ["Laboratory"]),
  ],
  targets: [
    // The sources of the pipeline and of the coalescer once more, on Foundation's queue: the folder has links to them.
    .target(
      name: "ImagePipelineOnFoundation",
      dependencies: [.product(name: "Pictures", package: "ImagePipeline")] + operations, swiftSettings: settings),
    .target(
      name: "MacroArms",
      dependencies: [
        "ImagePipelineOnFoundation", .product(name: "ImagePipeline", package: "ImagePipeline"),
        .product(name: "Pictures", package: "ImagePipeline"),
      ] + operations,
      swiftSettings: settings),
    .executableTarget(
      name: "macrobench",
      dependencies: [
        "MacroArms", .product(name: "HTTPTransport", package: "ImagePipeline"),
        .product(name: "Laboratory", package: "opbench"),
        .product(name: "pictureserver", package: "ImagePipeline"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "MacroArmsTests",
      dependencies: ["MacroArms", .product(name: "Pictures", package: "ImagePipeline")] + operations,
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
