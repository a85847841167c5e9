// swift-tools-version: 6.2
import PackageDescription

// Programs to copy from, one folder each. They use public API alone.
let package = Package(
    name: "elemental-samples",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "ChatClient", targets: ["ChatClient"]),
        .executable(name: "ClusterNode", targets: ["ClusterNode"]),
        .executable(name: "ClusterClient", targets: ["ClusterClient"]),
        .executable(name: "ReadingsToSQLite", targets: ["ReadingsToSQLite"]),
        .executable(name: "RobotServer", targets: ["RobotServer"]),
        .executable(name: "RobotClient", targets: ["RobotClient"]),
        .executable(name: "RobotPlot", targets: ["RobotPlot"]),
        .executable(name: "ScreenServer", targets: ["ScreenServer"]),
        .executable(name: "ScreenClient", targets: ["ScreenClient"]),
        .executable(name: "SynthPlayer", targets: ["SynthPlayer"]),
        .executable(name: "SystemMonitor", targets: ["SystemMonitor"]),
        .executable(name: "ThermostatClient", targets: ["ThermostatClient"]),
    ],
    dependencies: [
        .package(name: "elemental", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
    ],
    targets: [
        // The options --security and --state of all samples, and how their servers print.
        .target(
            name: "SampleSecurity",
            dependencies: [
                .product(name: "Elemental", package: "elemental"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Security/Sources/SampleSecurity"),

        // Robot: motion over UDP, a figure driven by a client.
        .target(
            name: "RobotElements", dependencies: [.product(name: "Elemental", package: "elemental")],
            path: "Robot/Sources/RobotElements"),
        .target(name: "RobotSimulation", dependencies: ["RobotElements"], path: "Robot/Sources/RobotSimulation"),
        .executableTarget(
            name: "RobotServer",
            dependencies: [
                "RobotSimulation", "SampleSecurity",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Robot/Sources/RobotServer"
        ),
        .executableTarget(
            name: "RobotClient",
            dependencies: [
                "RobotElements", "SampleSecurity",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Robot/Sources/RobotClient"
        ),
        .executableTarget(
            name: "RobotPlot",
            dependencies: [
                "RobotElements",
                .product(name: "ElementalRecording", package: "elemental"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Robot/Sources/RobotPlot"
        ),
        .testTarget(
            name: "RobotSimulationTests", dependencies: ["RobotSimulation"], path: "Robot/Tests/RobotSimulationTests"),

        // Cluster: nodes that find each other and share out jobs.
        .target(
            name: "ClusterElements", dependencies: [.product(name: "Elemental", package: "elemental")],
            path: "Cluster/Sources/ClusterElements"),
        .target(name: "ClusterMembers", dependencies: ["ClusterElements"], path: "Cluster/Sources/ClusterMembers"),
        .executableTarget(
            name: "ClusterNode",
            dependencies: [
                "ClusterMembers", "MachineReadings", "SampleSecurity",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Cluster/Sources/ClusterNode"
        ),
        .executableTarget(
            name: "ClusterClient",
            dependencies: [
                "ClusterMembers", "SampleSecurity",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Cluster/Sources/ClusterClient"
        ),

        // ScreenControl: the older README's example, a screen's backlight and its remote control.
        .target(
            name: "ScreenElements", dependencies: [.product(name: "Elemental", package: "elemental")],
            path: "ScreenControl/Sources/ScreenElements"),
        .executableTarget(
            name: "ScreenServer",
            dependencies: [
                "SampleSecurity", "ScreenElements",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "ScreenControl/Sources/ScreenServer"
        ),
        .executableTarget(
            name: "ScreenClient",
            dependencies: [
                "SampleSecurity", "ScreenElements",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "ScreenControl/Sources/ScreenClient"
        ),

        // Chat: a room of a SignalR hub, for people and for a Commodore.
        .target(
            name: "ChatRoom", dependencies: [.product(name: "SignalR", package: "elemental")],
            path: "Chat/Sources/ChatRoom"),
        .executableTarget(
            name: "ChatClient",
            dependencies: [
                "ChatRoom", "SampleSecurity",
                .product(name: "Elemental", package: "elemental"),
                .product(name: "SignalR", package: "elemental"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Chat/Sources/ChatClient"
        ),

        // Microcontroller: a thermostat on a serial line, whose firmware the script Microcontroller/build makes of the same
        // elements.
        .target(
            name: "ThermostatElements", dependencies: [.product(name: "ElementalWire", package: "elemental")],
            path: "Microcontroller/Sources/ThermostatElements"),
        .executableTarget(
            name: "ThermostatClient",
            dependencies: [
                "SampleSecurity", "ThermostatElements",
                .product(name: "Elemental", package: "elemental"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Microcontroller/Sources/ThermostatClient"
        ),

        // Bridge: a bridge of one's own, between services and a SQLite file.
        .systemLibrary(name: "CSQLite", path: "Bridge/Sources/CSQLite"),
        .target(
            name: "SQLiteBridge",
            dependencies: [
                "CSQLite",
                .product(name: "Elemental", package: "elemental"),
                .product(name: "ElementalFollowing", package: "elemental"),
            ],
            path: "Bridge/Sources/SQLiteBridge"
        ),
        .executableTarget(
            name: "ReadingsToSQLite",
            dependencies: [
                "SampleSecurity", "SQLiteBridge",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Bridge/Sources/ReadingsToSQLite"
        ),
        .testTarget(
            name: "SQLiteBridgeTests", dependencies: ["SQLiteBridge"], path: "Bridge/Tests/SQLiteBridgeTests"),

        // Sensors: what is on 1-Wire, I²C and GPIO, for SystemMonitor and for yours.
        .systemLibrary(name: "CLinuxDevices", path: "Sensors/Sources/CLinuxDevices"),
        .target(name: "Sensors", dependencies: ["CLinuxDevices", "MachineReadings"], path: "Sensors/Sources/Sensors"),
        .testTarget(
            name: "SensorsTests", dependencies: ["CLinuxDevices", "MachineReadings", "Sensors"],
            path: "Sensors/Tests/SensorsTests"),

        // SystemMonitor: a machine's sensors as a service.
        .target(name: "MachineReadings", path: "SystemMonitor/Sources/MachineReadings"),
        .executableTarget(
            name: "SystemMonitor",
            dependencies: [
                "MachineReadings", "SampleSecurity", "Sensors",
                .product(name: "Elemental", package: "elemental"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "SystemMonitor/Sources/SystemMonitor"
        ),
        .testTarget(
            name: "MachineReadingsTests", dependencies: ["MachineReadings"],
            path: "SystemMonitor/Tests/MachineReadingsTests"),

        // Synth: notes and motion become sound.
        .target(
            name: "SynthElements", dependencies: [.product(name: "Elemental", package: "elemental")],
            path: "Synth/Sources/SynthElements"),
        // Optimised also where the rest is built for debugging: it makes 48,000 samples a second.
        .target(
            name: "SynthEngine", dependencies: ["SynthElements"], path: "Synth/Sources/SynthEngine",
            swiftSettings: [.unsafeFlags(["-O"])]),
        .executableTarget(
            name: "SynthPlayer",
            dependencies: [
                "SampleSecurity", "SynthElements",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Synth/Sources/SynthPlayer"
        ),
        // Measures its latency: for its tests and for Samples/try-synth.
        .executableTarget(
            name: "SynthProbe",
            dependencies: [
                "SampleSecurity", "SynthElements",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Synth/Tests/SynthProbe"
        ),
        .target(name: "AllocationWatch", path: "Synth/Tests/AllocationWatch"),
        .testTarget(
            name: "SynthTests", dependencies: ["AllocationWatch", "SynthEngine"], path: "Synth/Tests/SynthTests"),
    ]
)

#if os(Linux)
// ALSA is Linux's. Without 'pkgConfig', so that the other programs build where libasound2-dev is not installed.
package.products.append(.executable(name: "SynthServer", targets: ["SynthServer"]))
package.targets += [
    .systemLibrary(name: "CALSA", path: "Synth/Sources/CALSA"),
    .executableTarget(
        name: "SynthServer",
        dependencies: [
            "CALSA", "SampleSecurity", "SynthEngine",
            .product(name: "ArgumentParser", package: "swift-argument-parser"),
            .product(name: "Logging", package: "swift-log"),
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        ],
        path: "Synth/Sources/SynthServer"
    ),
]
#endif
