// swift-tools-version: 6.3
import PackageDescription

/// One list for every target: Swift 6 language mode comes from the package; `any` is always spelled out.
let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

/// The laboratory uses packages, and so does the instrumentation. A program that uses the library turns their traits
/// off with `traits: []`, and SwiftPM then fetches none of them: it leaves out a package when each use of it has a
/// condition that is false.
let whenLaboratory: TargetDependencyCondition? = .when(traits: ["Laboratory", "All"])
/// The same for what connects operations with a server's metrics, logs and spans.
let whenInstrumentation: TargetDependencyCondition? = .when(traits: ["Instrumentation", "All"])

/// A target of the harness: `HarnessWords` out of `Benchmarks/Harness/Words`. The long name leaves short ones to users'
/// packages, since a module's name may stand only once among all packages of a program.
/// - Parameter names: the targets of the harness that this one uses.
func harness(_ name: String, on names: [String], _ dependencies: [Target.Dependency] = []) -> Target {
  .target(
    name: "Harness\(name)", dependencies: names.map { .target(name: "Harness\($0)") } + dependencies,
    path: "Benchmarks/Harness/\(name)", exclude: ["README.md"], swiftSettings: settings)
}

/// What each backend needs.
let backend: [Target.Dependency] = [
  "OperationForks", "OperationJobs", "OperationTraceEvents", "Primitives", "CPlatform",
]

/// The library: no Foundation, no package. Each target uses those above it alone.
let library: [Target] = [
  .target(name: "CPlatform", path: "Sources/CPlatform"),
  .target(name: "Primitives", dependencies: ["CPlatform"], path: "Sources/Primitives", swiftSettings: settings),
  // The decisions of the pools: values, pure functions, and the way of a worker to its next job.
  .target(name: "Scheduling", path: "Sources/Scheduling", swiftSettings: settings),
  // What a recording holds, and the probes that record.
  .target(
    name: "OperationTraceEvents", dependencies: ["Primitives", "CPlatform"], path: "Sources/OperationTraceEvents",
    exclude: ["README.md"], swiftSettings: settings),
  // What a backend runs, and what a thread that runs jobs knows. Who writes a backend needs no other target.
  .target(
    name: "OperationJobs", dependencies: ["OperationTraceEvents", "Scheduling", "Primitives", "CPlatform"],
    path: "Sources/OperationJobs", swiftSettings: settings),
  // Joins and scopes: jobs, and no operation.
  .target(
    name: "OperationForks",
    dependencies: ["OperationJobs", "OperationTraceEvents", "Scheduling", "Primitives", "CPlatform"],
    path: "Sources/OperationForks", exclude: ["README.md"], swiftSettings: settings),
  // Loops, collections, reductions and sorts, made of forks.
  .target(
    name: "OperationLoops", dependencies: ["OperationForks", "OperationJobs", "Primitives", "CPlatform"],
    path: "Sources/OperationLoops", swiftSettings: settings),
  // Executors of tasks and actors, and alarms: jobs, and no operation.
  .target(
    name: "OperationExecutors",
    dependencies: ["OperationForks", "OperationJobs", "OperationTraceEvents", "Primitives", "CPlatform"],
    path: "Sources/OperationExecutors", exclude: ["README.md"], swiftSettings: settings),
  // Graphs that are made once and run often: jobs, forks and tasks, and no operation.
  .target(
    name: "OperationGraphs",
    dependencies: [
      "OperationExecutors", "OperationForks", "OperationJobs", "OperationTraceEvents", "Primitives", "CPlatform",
    ],
    path: "Sources/OperationGraphs", exclude: ["README.md"], swiftSettings: settings),
  .target(
    name: "OperationCore",
    dependencies: [
      "OperationExecutors", "OperationForks", "OperationJobs", "OperationTraceEvents", "Primitives", "CPlatform",
    ],
    path: "Sources/OperationCore",
    exclude: [
      "CONTRACT.md", "Dependencies/README.md", "Lifecycle/README.md", "Lifecycle/Codegen.md",
      "Lifecycle/OverriddenProperties.md", "Memory/README.md", "Observation/README.md", "Operation/README.md",
      "Queue/README.md", "Tasks/README.md",
    ],
    swiftSettings: settings),
  // Reads a recording: the timeline, the text and the file of a trace.
  .target(
    name: "OperationTraces",
    dependencies: ["OperationExecutors", "OperationTraceEvents", "Primitives", "CPlatform"],
    path: "Sources/OperationTraces", swiftSettings: settings),
  .target(
    name: "DispatchBackend", dependencies: backend, path: "Sources/DispatchBackend", swiftSettings: settings),
  // A pool of virtual threads with a virtual clock: what the simulation and the deterministic backend share.
  .target(
    name: "VirtualScheduling", dependencies: ["Scheduling", "Primitives", "CPlatform"],
    path: "Sources/VirtualScheduling",
    exclude: ["README.md"], swiftSettings: settings),
  .target(
    name: "ThreadPoolBackend", dependencies: backend + ["Scheduling"], path: "Sources/ThreadPoolBackend",
    exclude: ["README.md"],
    swiftSettings: settings),
  .target(
    name: "StealingBackend", dependencies: backend + ["Scheduling"], path: "Sources/StealingBackend",
    exclude: ["README.md"],
    swiftSettings: settings),
  .target(
    name: "Operations",
    dependencies: [
      "OperationCore", "OperationExecutors", "OperationForks", "OperationGraphs", "OperationJobs", "OperationLoops",
      "OperationTraces", "DispatchBackend", "ThreadPoolBackend", "StealingBackend", "CPlatform",
    ],
    path: "Sources/Operations", swiftSettings: settings),
  // All of the library: for writing a backend or choosing a strategy.
  .target(
    name: "OperationBackends",
    dependencies: [
      "OperationCore", "OperationExecutors", "OperationForks", "OperationGraphs", "OperationJobs", "OperationLoops",
      "OperationTraces", "Operations", "Scheduling",
    ],
    path: "Sources/OperationBackends", swiftSettings: settings),
  // The only target of the library that imports Foundation. No other target of the library depends on this one.
  .target(
    name: "OperationsFoundation", dependencies: ["Operations"], path: "Sources/OperationsFoundation",
    swiftSettings: settings),
  // Built of the public API alone: groups, conditions, retries, limits of rates.
  .target(
    name: "OperationComposition", dependencies: ["OperationCore", "OperationExecutors", "OperationJobs", "Operations"],
    path: "Sources/OperationComposition", swiftSettings: settings),
  // The clocks of the system as code of a test sees them: it defines `clock_gettime` for the program.
  .target(name: "CVirtualTime", path: "Sources/CVirtualTime"),
  .target(
    name: "DeterministicOperations",
    dependencies: backend + ["CVirtualTime", "OperationCore", "OperationExecutors", "Scheduling", "VirtualScheduling"],
    path: "Sources/DeterministicOperations", exclude: ["README.md"], swiftSettings: settings),
]

/// What connects operations with the packages of servers.
let instrumentation: [Target] = [
  .target(
    name: "OperationInstrumentation",
    dependencies: [
      "Operations", "OperationComposition",
      .product(name: "Logging", package: "swift-log", condition: whenInstrumentation),
      .product(name: "Metrics", package: "swift-metrics", condition: whenInstrumentation),
      .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: whenInstrumentation),
      .product(name: "Tracing", package: "swift-distributed-tracing", condition: whenInstrumentation),
    ],
    path: "Sources/OperationInstrumentation", swiftSettings: settings)
]

/// The laboratory: what measures, and what is measured.
let laboratory: [Target] = [
  // CJemalloc has no pkgConfig entry: that would link jemalloc wherever it is installed, and timed processes
  // must keep the system's allocator. The counting process alone gets it, preloaded from where pkg-config says it is.
  .systemLibrary(name: "CJemalloc", path: "Benchmarks/CJemalloc", providers: [.apt(["libjemalloc-dev"])]),
  // Two things Swift cannot say: a system call with variable arguments, and a function that stands before the C
  // library's.
  .target(name: "CMeasure", dependencies: ["CPlatform"], path: "Benchmarks/CMeasure"),
  .target(name: "CWorkloads", path: "Benchmarks/CWorkloads"),
  // The harness, in an order that the compiler holds: each of its targets uses those above it alone.
  harness("Words", on: []),
  harness("Statistics", on: ["Words"]),
  harness(
    "Measuring", on: ["Words", "Statistics"],
    [
      "CJemalloc", "CMeasure", "Primitives",
      .product(name: "Histogram", package: "hdrhistogram-swift", condition: whenLaboratory),
    ]),
  harness("Planning", on: ["Words", "Statistics", "Measuring"]),
  harness("Results", on: ["Words", "Statistics", "Measuring", "Planning"]),
  harness("Comparing", on: ["Words", "Statistics", "Measuring", "Planning", "Results"]),
  harness("Running", on: ["Words", "Statistics", "Measuring", "Planning", "Results", "Comparing"]),
  harness("Gate", on: ["Words", "Statistics", "Measuring", "Planning", "Results", "Comparing", "Running"]),
  .target(
    name: "Subjects",
    dependencies: [
      "OperationBackends",
      "HarnessWords", "HarnessMeasuring", "Operations",
      .product(name: "NIOCore", package: "swift-nio", condition: whenLaboratory),
      .product(name: "NIOPosix", package: "swift-nio", condition: whenLaboratory),
    ],
    path: "Benchmarks/Subjects", exclude: ["README.md"], swiftSettings: settings),
  .target(
    name: "Workloads",
    dependencies: [
      "CWorkloads", "HarnessWords", "HarnessStatistics", "HarnessMeasuring", "HarnessPlanning", "Operations",
      "Subjects",
    ],
    path: "Benchmarks/Workloads", exclude: ["README.md"], swiftSettings: settings),
  .target(
    name: "Simulation",
    dependencies: [
      "VirtualScheduling", "Scheduling", "Primitives", "Operations", "HarnessWords", "HarnessStatistics",
      "HarnessMeasuring", "HarnessPlanning", "HarnessResults", "HarnessComparing", "Subjects", "Workloads",
    ],
    path: "Benchmarks/Simulation", swiftSettings: settings),
  .target(
    name: "Laboratory",
    dependencies: [
      "CMeasure", "HarnessWords", "HarnessStatistics", "HarnessMeasuring", "HarnessPlanning", "HarnessResults",
      "HarnessComparing", "HarnessRunning", "HarnessGate",
      .product(name: "ArgumentParser", package: "swift-argument-parser", condition: whenLaboratory),
    ],
    path: "Benchmarks/Laboratory", swiftSettings: settings),
  .executableTarget(
    name: "opbench",
    dependencies: [
      "CMeasure", "HarnessWords", "HarnessStatistics", "HarnessMeasuring", "HarnessPlanning", "HarnessResults",
      "HarnessComparing",
      "HarnessGate", "Operations", "OperationTraceEvents", "Subjects", "Workloads", "Laboratory", "Simulation",
      "VirtualScheduling",
      .product(name: "ArgumentParser", package: "swift-argument-parser", condition: whenLaboratory),
    ],
    path: "Benchmarks/opbench", swiftSettings: settings),
]

/// The tests, and the programs and parts that tests share.
let tests: [Target] = [
  .target(
    name: "TestSupport",
    dependencies: ["OperationBackends", "Operations", "OperationComposition", "DeterministicOperations"],
    path: "Tests/TestSupport",
    swiftSettings: settings),
  .testTarget(
    name: "PrimitivesTests", dependencies: ["Primitives", "CPlatform", "StressEngine", "TestSupport"],
    path: "Tests/PrimitivesTests", swiftSettings: settings),
  .testTarget(
    name: "OperationCoreTests",
    dependencies: [
      "OperationCore", "OperationExecutors", "OperationForks", "OperationJobs", "OperationLoops",
      "OperationTraceEvents", "OperationTraces",
      "Operations", "Primitives", "CPlatform", "TestSupport",
    ],
    path: "Tests/OperationCoreTests", swiftSettings: settings),
  .testTarget(
    name: "SchedulingTests",
    dependencies: [
      "OperationBackends", "OperationForks", "OperationJobs", "Primitives", "Scheduling", "Operations",
      "DispatchBackend", "StealingBackend", "ThreadPoolBackend", "TestSupport",
    ],
    path: "Tests/SchedulingTests",
    swiftSettings: settings),
  .testTarget(
    name: "VirtualSchedulingTests",
    dependencies: [
      "VirtualScheduling", "Scheduling", "OperationJobs", "Primitives", "StealingBackend", "ThreadPoolBackend",
      "TestSupport",
    ],
    path: "Tests/VirtualSchedulingTests", swiftSettings: settings),
  .testTarget(
    name: "DeterministicOperationsTests",
    dependencies: ["OperationBackends", "DeterministicOperations", "Operations", "VirtualScheduling", "TestSupport"],
    path: "Tests/DeterministicOperationsTests", swiftSettings: settings),
  .testTarget(
    name: "OperationCompositionTests",
    dependencies: ["OperationComposition", "Operations", "DeterministicOperations", "TestSupport"],
    path: "Tests/OperationCompositionTests", swiftSettings: settings),
  .testTarget(
    name: "OperationInstrumentationTests",
    dependencies: [
      "OperationInstrumentation", "OperationComposition", "Operations", "TestSupport",
      .product(name: "InMemoryLogging", package: "swift-log", condition: whenInstrumentation),
      .product(name: "Logging", package: "swift-log", condition: whenInstrumentation),
      .product(name: "MetricsTestKit", package: "swift-metrics", condition: whenInstrumentation),
      .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: whenInstrumentation),
      .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle", condition: whenInstrumentation),
      .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: whenInstrumentation),
      .product(name: "Tracing", package: "swift-distributed-tracing", condition: whenInstrumentation),
    ],
    path: "Tests/OperationInstrumentationTests", swiftSettings: settings),
  .testTarget(
    name: "StealingBackendTests",
    dependencies: ["StealingBackend", "OperationCore", "OperationJobs", "Scheduling", "TestSupport"],
    path: "Tests/StealingBackendTests",
    swiftSettings: settings),
  .testTarget(
    name: "ThreadPoolBackendTests",
    dependencies: [
      "ThreadPoolBackend", "OperationCore", "OperationForks", "OperationJobs", "Primitives", "Scheduling",
      "TestSupport",
    ],
    path: "Tests/ThreadPoolBackendTests", swiftSettings: settings),
  .testTarget(
    name: "DispatchBackendTests", dependencies: ["DispatchBackend", "OperationJobs", "Primitives", "TestSupport"],
    path: "Tests/DispatchBackendTests", swiftSettings: settings),
  // Seeded stress: an engine that a test and a small program (for memory checkers) share.
  .target(
    name: "StressEngine", dependencies: ["OperationJobs", "Operations", "TestSupport"],
    path: "Tests/Stress/Engine",
    swiftSettings: settings),
  .executableTarget(
    name: "StressRunner", dependencies: ["StressEngine", "TestSupport"], path: "Tests/Stress/Runner",
    swiftSettings: settings),
  .testTarget(
    name: "StressTests", dependencies: ["StressEngine", "TestSupport"], path: "Tests/Stress/Tests",
    swiftSettings: settings),
  // Random programs against a sequential reference model: an engine that a test and a small program share.
  .target(
    name: "DifferentialEngine",
    dependencies: [
      "OperationBackends",
      "OperationForks", "OperationJobs", "Operations", "DeterministicOperations", "VirtualScheduling", "Scheduling",
      "TestSupport",
    ],
    path: "Tests/Differential/Engine", exclude: ["README.md"], swiftSettings: settings),
  .executableTarget(
    name: "DifferentialRunner", dependencies: ["DifferentialEngine", "TestSupport"],
    path: "Tests/Differential/Runner", swiftSettings: settings),
  .testTarget(
    name: "DifferentialTests",
    dependencies: ["OperationBackends", "DifferentialEngine", "DeterministicOperations", "TestSupport"],
    path: "Tests/Differential/Tests", swiftSettings: settings),
  // Calls whose cost must not grow with a square: a test judges them, and a small program shows their curves.
  .target(name: "GrowingCalls", dependencies: ["Operations"], path: "Tests/Growth/Calls", swiftSettings: settings),
  .executableTarget(
    name: "GrowthRunner", dependencies: ["GrowingCalls", "Operations", "TestSupport"], path: "Tests/Growth/Runner",
    swiftSettings: settings),
  // The laboratory: one target for each of its modules, and what several of them share.
  .target(
    name: "LaboratorySupport", dependencies: ["HarnessWords", "HarnessMeasuring", "HarnessPlanning", "HarnessResults"],
    path: "Tests/LaboratorySupport", swiftSettings: settings),
  .testTarget(
    name: "HarnessTests",
    dependencies: [
      "HarnessWords", "HarnessStatistics", "HarnessMeasuring", "HarnessPlanning", "HarnessResults", "HarnessComparing",
      "HarnessRunning", "HarnessGate", "LaboratorySupport", "TestSupport",
    ], path: "Tests/HarnessTests",
    exclude: ["Fixtures"], swiftSettings: settings),
  .testTarget(
    name: "SubjectsTests", dependencies: ["HarnessMeasuring", "Subjects", "LaboratorySupport", "TestSupport"],
    path: "Tests/SubjectsTests",
    swiftSettings: settings),
  .testTarget(
    name: "WorkloadsTests",
    dependencies: [
      "HarnessWords", "HarnessStatistics", "HarnessMeasuring", "HarnessPlanning", "Subjects", "Workloads",
      "LaboratorySupport", "TestSupport",
    ],
    path: "Tests/WorkloadsTests", swiftSettings: settings),
  .testTarget(
    name: "SimulationTests",
    dependencies: [
      "Simulation", "VirtualScheduling", "Scheduling", "HarnessWords", "HarnessStatistics", "HarnessMeasuring",
      "HarnessPlanning", "HarnessResults", "Workloads", "LaboratorySupport",
    ],
    path: "Tests/SimulationTests", swiftSettings: settings),
  .testTarget(
    name: "LaboratoryTests",
    dependencies: [
      "HarnessWords", "HarnessMeasuring", "HarnessPlanning", "HarnessResults", "HarnessComparing", "HarnessGate",
      "Laboratory", "LaboratorySupport", "OddBenchmarks", "TestSupport",
    ],
    path: "Tests/LaboratoryTests", swiftSettings: settings),
  // A program of benchmarks that print, close what is not theirs, or measure nothing.
  .executableTarget(
    name: "OddBenchmarks", dependencies: ["Laboratory"], path: "Tests/Samples/OddBenchmarks",
    swiftSettings: settings),
  .testTarget(
    name: "OpbenchTests",
    dependencies: [
      "HarnessWords", "HarnessMeasuring", "HarnessPlanning", "HarnessResults", "HarnessComparing", "HarnessGate",
      "Subjects", "opbench", "OddBenchmarks", "LaboratorySupport", "TestSupport",
    ],
    path: "Tests/OpbenchTests", swiftSettings: settings),
  // Fuzzing of what reads files and other processes' output: an engine that tests and a program for libFuzzer share.
  .target(
    name: "ParserEngine",
    dependencies: [
      "HarnessWords", "HarnessMeasuring", "HarnessResults", "HarnessComparing", "HarnessGate", "Workloads",
      "TestSupport",
    ], path: "Tests/Parsers/Engine",
    swiftSettings: settings),
  .executableTarget(
    name: "ParserFuzzer", dependencies: ["ParserEngine"], path: "Tests/Parsers/Fuzzer", swiftSettings: settings),
  .testTarget(
    name: "ParserTests",
    dependencies: [
      "ParserEngine", "LaboratorySupport", "TestSupport", "HarnessMeasuring", "opbench",
      .product(name: "ArgumentParser", package: "swift-argument-parser", condition: whenLaboratory),
    ],
    path: "Tests/Parsers/Tests", swiftSettings: settings),
  // The contract: one suite, every backend.
  .testTarget(
    name: "BackendConformanceTests",
    dependencies: ["OperationBackends", "GrowingCalls", "Operations", "DeterministicOperations", "TestSupport"],
    path: "Tests/BackendConformanceTests", swiftSettings: settings),
  // What needs a process of its own: traps, the main queue's thread, signals, refused descriptors, threads and memory.
  .executableTarget(
    name: "ProcessScenarios",
    dependencies: [
      "CPlatform", "OperationBackends",
      "Operations", "OperationComposition", "DeterministicOperations", "TestSupport", "StealingBackend",
      "ThreadPoolBackend",
      "DispatchBackend", "OperationTraceEvents", "Primitives",
    ],
    path: "Tests/Processes/Scenarios", swiftSettings: settings),
  // Programs of tasks on each default executor. They link nothing that touches the executor by itself.
  .executableTarget(
    name: "TaskPrograms", dependencies: ["CPlatform", "OperationBackends", "Primitives"],
    path: "Tests/Processes/TaskPrograms", swiftSettings: settings),
  .testTarget(
    name: "ProcessTests",
    dependencies: [
      "ProcessScenarios", "TaskPrograms", "ReadmeSample", "FoundationIdioms", "OperationsIdioms", "TestSupport",
    ],
    path: "Tests/Processes/Tests", swiftSettings: settings),
  // The program that README.md shows first.
  .executableTarget(
    name: "ReadmeSample", dependencies: ["Operations"], path: "Tests/Samples/Readme", swiftSettings: settings),
  // One set of sources (a symbolic link), compiled against Foundation and against Operations.
  .testTarget(
    name: "FoundationSourceTests", dependencies: ["TestSupport"], path: "Tests/SourceCompatibilityTests/Foundation",
    swiftSettings: settings + [.define("FOUNDATION_OPERATIONS")]),
  .testTarget(
    name: "OperationsSourceTests", dependencies: ["Operations", "TestSupport"],
    path: "Tests/SourceCompatibilityTests/Operations", swiftSettings: settings),
  // Generated cases and idioms of public code, compiled from the same sources (a symbolic link) against both.
  // ProcessTests compares what the two programs print.
  .executableTarget(
    name: "FoundationIdioms", path: "Tests/SourceCompatibilityTests/Idioms/Foundation",
    swiftSettings: settings + [.define("FOUNDATION_OPERATIONS")]),
  .executableTarget(
    name: "OperationsIdioms", dependencies: ["Operations"], path: "Tests/SourceCompatibilityTests/Idioms/Operations",
    swiftSettings: settings),
  // A library of a user's that needs Foundation too: the names of classes in it are those of Operations.
  .target(
    name: "BothImportsLibrary", dependencies: ["Operations"],
    path: "Tests/SourceCompatibilityTests/BothImportsLibrary", swiftSettings: settings),
  .testTarget(
    name: "BothImportsTests",
    dependencies: ["BothImportsLibrary", "Operations", "OperationsFoundation", "TestSupport"],
    path: "Tests/SourceCompatibilityTests/BothImports", swiftSettings: settings),
]

let package = Package(
  name: "opbench",
  products: [
    .library(name: "Operations", targets: ["Operations"]),
    // The same, with all that a backend or a strategy is made of.
    .library(name: "OperationBackends", targets: ["OperationBackends"]),
    // For programs that use Foundation too: the one product whose module imports it.
    .library(name: "OperationsFoundation", targets: ["OperationsFoundation"]),
    // Operations made of operations: groups, conditions, deadlines, retries, limits of rates, coalescing.
    .library(name: "OperationComposition", targets: ["OperationComposition"]),
    // For servers: metrics, logs, spans and graceful shutdown.
    .library(name: "OperationInstrumentation", targets: ["OperationInstrumentation"]),
    // For tests: a backend whose order follows from a seed.
    .library(name: "DeterministicOperations", targets: ["DeterministicOperations"]),
    // For benchmarks of one's own, held by the same gate.
    .library(name: "Laboratory", targets: ["Laboratory"]),
  ],
  traits: [
    .trait(name: "Laboratory", description: "The packages that the product Laboratory and opbench use."),
    .trait(
      name: "Instrumentation", description: "The packages for servers that the product OperationInstrumentation uses."),
    // One trait in the place of two. SwiftPM 6.3 gives the compiler a flag for each trait that is on, in an order that
    // differs from one call to the next (mended in 6.4, swift-package-manager #10344). So with two, every second call
    // built all modules again.
    .trait(name: "All", description: "Laboratory and Instrumentation, without the rebuilds that two traits cost."),
    // On where nothing else is said, so that opbench and the tests of this checkout build without an option.
    .default(enabledTraits: ["All"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: library + instrumentation + laboratory + tests,
  swiftLanguageModes: [.v6]
)
