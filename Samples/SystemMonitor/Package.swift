// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "SystemMonitor",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "SystemMonitor", targets: ["SystemMonitor"])],
    dependencies: [
        .package(name: "elemental", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        .target(name: "MachineReadings"),
        .executableTarget(
            name: "SystemMonitor",
            dependencies: [
                "MachineReadings",
                .product(name: "Elemental", package: "elemental"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(name: "MachineReadingsTests", dependencies: ["MachineReadings"]),
    ]
)
