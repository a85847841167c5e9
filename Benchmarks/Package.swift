// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "elemental-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "elemental", path: ".."),
        .package(url: "https://github.com/ordo-one/benchmark.git", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Codec",
            dependencies: [
                .product(name: "ElementalWire", package: "elemental"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Codec",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
        )
    ]
)
