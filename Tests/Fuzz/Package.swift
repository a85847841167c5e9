// swift-tools-version: 6.2
import PackageDescription

// Tests/fuzz builds and runs it: with libFuzzer where the toolchain has it. The sessions are reached by @testable
// imports, which a release build has to be told to allow.
let package = Package(
    name: "elemental-fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "elemental", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
    ],
    targets: [
        .target(name: "CLibFuzzer"),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CLibFuzzer",
                .product(name: "Elemental", package: "elemental"),
                .product(name: "ElementalMicro", package: "elemental"),
                .product(name: "ElementalRecording", package: "elemental"),
                .product(name: "ElementalSecurity", package: "elemental"),
                .product(name: "ElementalWire", package: "elemental"),
                .product(name: "MQTT", package: "elemental"),
                .product(name: "OSC", package: "elemental"),
                .product(name: "SerialLink", package: "elemental"),
                .product(name: "Zeroconf", package: "elemental"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "Simulation",
            dependencies: [
                .product(name: "Elemental", package: "elemental"),
                .product(name: "Zeroconf", package: "elemental"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ]
        ),
    ]
)
