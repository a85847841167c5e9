// swift-tools-version: 6.2
import PackageDescription

// For Linux only: the allocation counter replaces glibc's malloc.
let package = Package(
    name: "elemental-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "elemental", path: ".."),
        .package(url: "https://github.com/ordo-one/benchmark.git", from: "1.38.1", traits: []),
    ],
    targets: [
        // Linked into the benchmarks: the benchmark package's own counter is another package (its traits).
        .target(name: "AllocationCounter", path: "Rivals/Sources/AllocationCounter"),
        .executableTarget(
            name: "Codec",
            dependencies: [
                "AllocationCounter",
                .product(name: "ElementalWire", package: "elemental"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Codec",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        ),
        // Measured by Benchmarks/signalr.
        .executableTarget(
            name: "signalr-peer", dependencies: [.product(name: "SignalR", package: "elemental")],
            path: "SignalR/Sources/signalr-peer"),
        // Many services for Benchmarks/mqtt, which send values at exact times.
        .executableTarget(
            name: "mqtt-load", dependencies: [.product(name: "Elemental", package: "elemental")],
            path: "MQTT/Sources/mqtt-load"),
        // A value into a model beside a handler, for Benchmarks/observation.
        .executableTarget(
            name: "observation-cost", dependencies: [.product(name: "ElementalObservation", package: "elemental")],
            path: "Observation/Sources/observation-cost"),
    ]
)
