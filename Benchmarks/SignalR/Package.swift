// swift-tools-version: 6.1
import PackageDescription

// Measured by Benchmarks/signalr.
let package = Package(
    name: "elemental-signalr-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "elemental", path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "signalr-peer", dependencies: [.product(name: "SignalR", package: "elemental")])
    ]
)
