// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "elemental-rivals",
    platforms: [.macOS(.v15)],
    targets: [
        // What all contenders share: clock, samples, options, payloads, the books of the receiver.
        .target(name: "PeerSupport"),
        .executableTarget(name: "raw-peer", dependencies: ["PeerSupport"]),
        .systemLibrary(name: "CZeroMQ", providers: [.apt(["libzmq3-dev"])]),
        .executableTarget(name: "zmq-peer", dependencies: ["PeerSupport", "CZeroMQ"]),
    ],
    cLanguageStandard: .gnu11
)
