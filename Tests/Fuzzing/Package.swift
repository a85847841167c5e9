// swift-tools-version: 6.2
import PackageDescription

// The fuzzers. Tests/fuzz builds them for release, with libFuzzer where the toolchain has it, and runs them.
//
// The root package's FuzzingTests are in the same folder: they replay the corpus and simulate networks, in debug. Both compile
// the folder Targets, which uses @testable imports. In the root package only a test target can do that: any other would break
// the release build, which does not allow such imports unless -enable-testing is given, as the script build does.
let own = [
    "Elemental", "ElementalMicro", "ElementalRecording", "ElementalSecurity", "ElementalWire", "MQTT", "OSC",
    "SerialLink", "SignalR", "Zeroconf",
]
let nio = ["NIOConcurrencyHelpers", "NIOCore", "NIOEmbedded"]
let package = Package(
    name: "elemental-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "elemental", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
    ],
    targets: [
        .target(name: "CLibFuzzer", path: "CLibFuzzer"),
        .executableTarget(
            name: "Fuzz",
            dependencies: ["CLibFuzzer"] + own.map { .product(name: $0, package: "elemental") }
                + nio.map { .product(name: $0, package: "swift-nio") },
            path: ".",
            exclude: [
                "build", "Corpus", "CorpusTests.swift", "HistorySimulation", "HistorySimulationTests.swift",
                "OwnProcess.swift", "Simulation", "SimulationTests.swift",
            ],
            sources: ["Fuzzer", "Targets"]
        ),
    ]
)
