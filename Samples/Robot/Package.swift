// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Robot",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "RobotServer", targets: ["RobotServer"]),
        .executable(name: "RobotClient", targets: ["RobotClient"]),
    ],
    dependencies: [
        .package(name: "elemental", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        .target(name: "RobotElements", dependencies: [.product(name: "Elemental", package: "elemental")]),
        .target(name: "RobotSimulation", dependencies: ["RobotElements"]),
        .executableTarget(
            name: "RobotServer",
            dependencies: [
                "RobotSimulation",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .executableTarget(
            name: "RobotClient",
            dependencies: [
                "RobotElements",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(name: "RobotSimulationTests", dependencies: ["RobotSimulation"]),
    ]
)
