// swift-tools-version: 6.1
// Stands for your package. Its users fetch nothing for the gate: the benchmarks are a package of their own, in
// Benchmarks.
import PackageDescription

let package = Package(
  name: "Words",
  products: [.library(name: "Words", targets: ["Words"])],
  targets: [.target(name: "Words")]
)
