// swift-tools-version: 6.3
import PackageDescription

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]
/// Without the trait the pipeline builds without HTTP, in a fraction of the time: `--disable-default-traits`.
let whenHTTP: TargetDependencyCondition? = .when(traits: ["HTTP"])

let package = Package(
  name: "ImagePipeline",
  products: [
    .executable(name: "imagepipeline", targets: ["ImagePipelineTool"]),
    .executable(name: "pictureserver", targets: ["PictureServerTool"]),
    .library(name: "ImagePipeline", targets: ["ImagePipeline"]),
    .library(name: "Pictures", targets: ["Pictures"]),
    .library(name: "HTTPTransport", targets: ["HTTPTransport"]),
  ],
  traits: [
    .trait(name: "HTTP", description: "Downloads with AsyncHTTPClient."),
    .default(enabledTraits: ["HTTP"]),
  ],
  dependencies: [
    // From elsewhere: .package(url: "…/opbench", branch: "main", traits: [])
    .package(name: "opbench", path: "../..", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.100.0"),
    .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.8.0"),
  ],
  targets: [
    .systemLibrary(name: "CJPEG", pkgConfig: "libjpeg", providers: [.apt(["libjpeg-dev"])]),
    .systemLibrary(name: "CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    // What calls the two libraries where they report an error by a jump, which Swift cannot.
    .target(name: "CPictures", dependencies: ["CJPEG", "CPNG"]),
    // Pixels: reads and writes files, and changes pictures. Knows nothing of queues but the parallel loops.
    .target(
      name: "Pictures", dependencies: ["CPictures", "CPNG", .product(name: "Operations", package: "opbench")],
      swiftSettings: settings),
    // The pipeline: stages, caches, retries. Knows HTTP's rules, and no HTTP client.
    .target(
      name: "ImagePipeline",
      dependencies: [
        "Pictures", .product(name: "Operations", package: "opbench"),
        .product(name: "OperationComposition", package: "opbench"),
      ],
      swiftSettings: settings),
    // The pipeline's transport on AsyncHTTPClient.
    .target(
      name: "HTTPTransport",
      dependencies: [
        "ImagePipeline",
        .product(name: "AsyncHTTPClient", package: "async-http-client", condition: whenHTTP),
        .product(name: "NIOCore", package: "swift-nio", condition: whenHTTP),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: whenHTTP),
        .product(name: "NIOPosix", package: "swift-nio", condition: whenHTTP),
      ],
      swiftSettings: settings),
    // A server on loopback that serves made-up pictures, and faults on demand.
    .target(
      name: "PictureServer",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio", condition: whenHTTP),
        .product(name: "NIOPosix", package: "swift-nio", condition: whenHTTP),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: whenHTTP),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "PictureServerTool",
      dependencies: [
        "PictureServer", "Pictures", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),
    // The command.
    .executableTarget(
      name: "ImagePipelineTool",
      dependencies: [
        "HTTPTransport", "ImagePipeline", "Pictures", .product(name: "Operations", package: "opbench"),
        .product(name: "OperationComposition", package: "opbench"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log", condition: whenHTTP),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: whenHTTP),
      ],
      swiftSettings: settings),
    .testTarget(name: "PicturesTests", dependencies: ["Pictures", "CPictures"], swiftSettings: settings),
    .testTarget(
      name: "ImagePipelineTests",
      dependencies: [
        "ImagePipeline", "Pictures", .product(name: "Operations", package: "opbench"),
        .product(name: "OperationComposition", package: "opbench"),
        .product(name: "DeterministicOperations", package: "opbench"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "HTTPTransportTests", dependencies: ["HTTPTransport", "PictureServer", "ImagePipeline"],
      swiftSettings: settings),
    .testTarget(name: "ImagePipelineToolTests", dependencies: ["ImagePipelineTool"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
