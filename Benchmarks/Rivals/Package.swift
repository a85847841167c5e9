// swift-tools-version: 6.2
import PackageDescription

// For Linux only, with ZeroMQ's, nng's, mosquitto's and OpenSSL's libraries: Benchmarks/compare --build installs them and builds.
let package = Package(
    name: "elemental-rivals",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "AllocationCounter", type: .dynamic, targets: ["AllocationCounter"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
    ],
    targets: [
        // Shared by all contenders: clock, samples, options, payloads, the receiver's bookkeeping.
        .target(name: "PeerSupport"),
        .executableTarget(
            name: "raw-peer", dependencies: ["PeerSupport"],
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .executableTarget(
            name: "zmq-peer", dependencies: ["PeerSupport"], linkerSettings: [.linkedLibrary("zmq")]),
        .executableTarget(
            name: "nng-peer", dependencies: ["PeerSupport"], linkerSettings: [.linkedLibrary("nng")]),
        .executableTarget(
            name: "mqtt-peer", dependencies: ["PeerSupport"], linkerSettings: [.linkedLibrary("mosquitto")]),
        .executableTarget(
            name: "nio-peer",
            dependencies: [
                "PeerSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
            ]
        ),
        .executableTarget(name: "idle-peer", dependencies: ["PeerSupport"]),
        .executableTarget(name: "compare"),
        // Loaded into the contenders, not linked; the codec's benchmarks link it.
        .target(name: "AllocationCounter"),
    ],
    cLanguageStandard: .gnu11
)
