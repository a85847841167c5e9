// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "elemental",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18)],
    products: [
        .library(name: "Elemental", targets: ["Elemental"]),
        .library(name: "ElementalWire", targets: ["ElementalWire"]),
        .library(name: "SerialLink", targets: ["SerialLink"]),
        .library(name: "ElementalMicro", targets: ["ElementalMicro"]),
        .library(name: "ElementalSecurity", targets: ["ElementalSecurity"]),
        .library(name: "Zeroconf", targets: ["Zeroconf"]),
        .library(name: "PETSCII", targets: ["PETSCII"]),
        .library(name: "VirtualCommodore", targets: ["VirtualCommodore"]),
        .library(name: "CommodoreGateway", targets: ["CommodoreGateway"]),
        .library(name: "SerialGateway", targets: ["SerialGateway"]),
        .library(name: "SignalR", targets: ["SignalR"]),
        .library(name: "MQTT", targets: ["MQTT"]),
        .library(name: "OSC", targets: ["OSC"]),
        .library(name: "ElementalFollowing", targets: ["ElementalFollowing"]),
        .library(name: "SignalRBridge", targets: ["SignalRBridge"]),
        .library(name: "MQTTBridge", targets: ["MQTTBridge"]),
        .library(name: "OSCBridge", targets: ["OSCBridge"]),
        .library(name: "ElementalRecording", targets: ["ElementalRecording"]),
        .library(name: "ElementalObservation", targets: ["ElementalObservation"]),
        .executable(name: "elemental", targets: ["ElementalCLI"]),
    ],
    traits: [
        .default(enabledTraits: ["ServiceLifecycle"]),
        .trait(
            name: "ServiceLifecycle",
            description: "Services and gateways run in service groups, with swift-service-lifecycle."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        // SwiftNIO needs it anyway.
        .package(url: "https://github.com/apple/swift-collections.git", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift.git", from: "0.2.0"),
    ],
    targets: [
        .target(
            name: "CDNSSD", path: "Sources/Core/CDNSSD",
            linkerSettings: [
                .linkedLibrary("dns_sd", .when(platforms: [.linux])),
                .linkedLibrary("avahi-common", .when(platforms: [.linux])),
            ]
        ),
        // Linux functions that Swift's C library module leaves out.
        .target(name: "CLinux", path: "Sources/Core/CLinux"),
        // libsodium does the cryptography of ElementalSecurity on Linux. On Apple's systems CryptoKit does it.
        .systemLibrary(name: "CSodium", path: "Sources/Core/CSodium"),
        .target(
            name: "ElementalSecurity",
            dependencies: [
                "ElementalWire", "Support", .target(name: "CSodium", condition: .when(platforms: [.linux])),
            ],
            path: "Sources/Core/ElementalSecurity"),
        // QR codes for terminals and pages. Internal to this package.
        .target(name: "QRCode", path: "Sources/Core/QRCode"),
        // Code that several modules share. Internal to this package.
        .target(
            name: "Support",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Core/Support"
        ),
        // Public API that Elemental and the clients share: the delays of reconnection policies, registrations of
        // handlers.
        .target(name: "ReconnectionDelays", dependencies: ["Support"], path: "Sources/Core/ReconnectionDelays"),
        .target(name: "ElementalWire", path: "Sources/Core/ElementalWire"),
        .target(
            name: "Zeroconf",
            dependencies: [
                "CDNSSD",
                "Support",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Core/Zeroconf"
        ),
        // The values that services keep, in memory and in files. Uses no sockets.
        .target(
            name: "ElementalHistory",
            dependencies: [
                "ElementalSecurity", "ElementalWire", "Support",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources/Core/ElementalHistory"
        ),
        .target(
            name: "Elemental",
            dependencies: [
                "CLinux",
                "ElementalHistory",
                "ElementalSecurity",
                "ElementalWire",
                "ReconnectionDelays",
                "Support",
                "Zeroconf",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["ServiceLifecycle"])),
            ],
            path: "Sources/Core/Elemental"
        ),
        // For microcontrollers in Embedded Swift, and for programs that communicate with them.
        .target(name: "SerialLink", path: "Sources/Micro/SerialLink"),
        .target(
            name: "ElementalMicro", dependencies: ["ElementalWire", "SerialLink"],
            path: "Sources/Micro/ElementalMicro"),
        .target(name: "PETSCII", path: "Sources/Commodore/PETSCII"),
        .target(
            name: "VirtualCommodore", dependencies: ["PETSCII"],
            path: "Sources/Commodore/VirtualCommodore"),
        // Code that the gateways share: serial devices, pseudo-terminals and TCP ports as lines. Internal to this
        // package.
        .target(
            name: "SerialLines",
            dependencies: [
                "Elemental", "Support",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources/Gateways/SerialLines"
        ),
        // Publishes microcontrollers on serial lines as services.
        .target(
            name: "SerialGateway",
            dependencies: [
                "Elemental", "ElementalMicro", "ElementalWire", "SerialLines", "SerialLink", "Support",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources/Gateways/SerialGateway"
        ),
        .target(
            name: "CommodoreGateway",
            dependencies: [
                "Elemental", "ElementalWire", "PETSCII", "SerialLines", "SignalR", "Support", "VirtualCommodore",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources/Gateways/CommodoreGateway"
        ),
        // Code that the clients share: opening connections, with TLS, and error messages. Internal to this package.
        .target(
            name: "ClientTransport",
            dependencies: [
                "Support",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Sources/Clients/ClientTransport"
        ),
        .target(
            name: "SignalR",
            dependencies: [
                "ClientTransport",
                "ReconnectionDelays",
                "Support",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "NIOFoundationEssentialsCompat", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Clients/SignalR"
        ),
        .target(
            name: "MQTT",
            dependencies: [
                "ClientTransport",
                "ReconnectionDelays",
                "Support",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Clients/MQTT"
        ),
        // OSC's packets and addresses, without sockets.
        .target(
            name: "OSC", dependencies: [.product(name: "NIOCore", package: "swift-nio")], path: "Sources/Clients/OSC"),
        // Code that the bridges share: following services, queuing values, and choosing the next value to pass on.
        .target(
            name: "ElementalFollowing",
            dependencies: [
                "Elemental", "ElementalSecurity", "ElementalWire", "Support",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Bridges/ElementalFollowing"
        ),
        // A small web server for pages that only browsers of this network may open. Knows nothing of elements.
        .target(
            name: "WebServer",
            dependencies: [
                "Support",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Bridges/WebServer"
        ),
        // The services' values and connections as metrics in Prometheus' text format.
        .target(
            name: "ServiceMetrics", dependencies: ["ElementalFollowing", "Elemental", "ElementalWire", "Support"],
            path: "Sources/Bridges/ServiceMetrics"
        ),
        // The page that shows services and sets their elements.
        .target(
            name: "Dashboard",
            dependencies: [
                "ElementalFollowing", "DashboardPage", "Elemental", "ElementalSecurity", "ElementalWire",
                "ServiceMetrics",
                "Support", "WebServer",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Bridges/Dashboard",
            exclude: ["Page"]
        ),
        .target(name: "DashboardPage", path: "Sources/Bridges/Dashboard/Page", exclude: ["files"]),
        .target(
            name: "SignalRBridge",
            dependencies: ["ElementalFollowing", "Elemental", "ElementalWire", "SignalR", "Support"],
            path: "Sources/Bridges/SignalRBridge"
        ),
        .target(
            name: "MQTTBridge",
            dependencies: [
                "ElementalFollowing", "Elemental", "ElementalWire", "MQTT", "Support",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Sources/Bridges/MQTTBridge"
        ),
        .target(
            name: "OSCBridge",
            dependencies: [
                "ElementalFollowing", "Elemental", "ElementalWire", "OSC", "Support", "WebServer", "Zeroconf",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOFoundationEssentialsCompat", package: "swift-nio"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Bridges/OSCBridge"
        ),
        // Records services into MCAP files, and plays such files back as services.
        .target(
            name: "ElementalRecording",
            dependencies: [
                "ElementalFollowing", "Elemental", "ElementalWire", "Support",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources/Recording/ElementalRecording"
        ),
        // Models that views bind to, on the Observation framework alone.
        .target(
            name: "ElementalObservation",
            dependencies: [
                "Elemental", "ElementalFollowing", "ElementalSecurity", "ElementalWire", "Support",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Sources/Observation/ElementalObservation"
        ),
        .target(
            name: "ElementalBench",
            dependencies: [
                "Elemental", "ElementalWire", "Support",
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Sources/Tools/ElementalBench"
        ),
        .target(name: "CDispatchTimer", path: "Sources/Tools/CDispatchTimer"),
        .executableTarget(
            name: "ElementalCLI",
            dependencies: [
                .target(name: "CDispatchTimer", condition: .when(platforms: [.linux])),
                "CLinux",
                "ElementalFollowing",
                "ClientTransport",
                "CommodoreGateway",
                "Dashboard",
                "Elemental",
                "ElementalBench",
                "ElementalRecording",
                "ElementalSecurity",
                "ElementalWire",
                "MQTT",
                "MQTTBridge",
                "OSCBridge",
                "PETSCII",
                "QRCode",
                "SerialGateway",
                "SerialLines",
                "ServiceMetrics",
                "SignalR",
                "SignalRBridge",
                "Support",
                "VirtualCommodore",
                "WebServer",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Sources/Tools/ElementalCLI",
            // Optimised for size, because the Debian package's size is limited. Code that has to be fast is in the
            // modules that the commands use.
            swiftSettings: [.unsafeFlags(["-Osize"], .when(configuration: .release))],
            linkerSettings: [
                .unsafeFlags(
                    ["-Xlinker", "--wrap=dispatch_source_set_timer"],
                    .when(platforms: [.linux], configuration: .release))
            ]
        ),
        // Tests, and the code that they share.
        .target(name: "WireVectors", path: "Tests/WireVectors", resources: [.embedInCode("vectors.json")]),
        .target(
            name: "TestSupport",
            dependencies: ["ElementalMicro", "ElementalSecurity", "Support"],
            path: "Tests/TestSupport",
            exclude: ["bad-link.py", "other-clock.c", "simulated-machine.c"]
        ),
        .executableTarget(
            name: "zeroconf-probe", dependencies: ["Zeroconf"],
            path: "Tests/zeroconf-probe"),
        .executableTarget(
            name: "ledger",
            dependencies: ["Elemental", "Support"],
            path: "Tests/ledger"
        ),
        .executableTarget(name: "value-way", dependencies: ["Elemental", "Support"], path: "Tests/value-way"),
        // A test module for each folder of Sources. The folders of the tests mirror those of Sources.
        .testTarget(
            name: "CoreTests",
            dependencies: [
                "ElementalHistory", "ElementalSecurity", "ElementalWire", "QRCode", "Support", "TestSupport",
                "WireVectors", "Zeroconf",
                "zeroconf-probe",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/Core",
            exclude: ["Elemental", "EmbeddedWire", "QRCode/matrices.py"],
            resources: [
                .embedInCode("ElementalSecurity/cpace-x25519-vectors.json"),
                .embedInCode("ElementalSecurity/pairing-vectors.json"),
            ]),
        .testTarget(
            name: "ElementalTests",
            dependencies: [
                "CLinux", "Elemental", "ElementalSecurity", "ElementalWire", "Support", "TestSupport",
                "WireVectors", "Zeroconf",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            path: "Tests/Core/Elemental"),
        .testTarget(
            name: "MicroTests",
            dependencies: ["ElementalMicro", "ElementalWire", "SerialLink", "TestSupport"],
            path: "Tests/Micro",
            exclude: ["EmbeddedService", "EmbeddedTraffic", "EveryType"]),
        .testTarget(
            name: "CommodoreTests", dependencies: ["PETSCII", "TestSupport", "VirtualCommodore"],
            path: "Tests/Commodore",
            exclude: ["VirtualCommodore/py65"]),
        .testTarget(
            name: "GatewaysTests",
            dependencies: [
                "CommodoreGateway", "Elemental", "PETSCII", "SerialGateway", "SerialLines", "SignalR", "Support",
                "TestSupport", "VirtualCommodore",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            path: "Tests/Gateways"),
        .testTarget(
            name: "ClientsTests",
            dependencies: [
                "ClientTransport", "MQTT", "OSC", "SignalR", "Support", "TestSupport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Tests/Clients"),
        .testTarget(
            name: "BridgesTests",
            dependencies: [
                "ElementalFollowing", "Dashboard", "Elemental", "ElementalSecurity", "MQTT", "MQTTBridge", "OSC",
                "OSCBridge",
                "ServiceMetrics", "SignalR", "SignalRBridge", "Support", "TestSupport", "WebServer",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/Bridges"),
        .testTarget(
            name: "RecordingTests",
            dependencies: [
                "ElementalFollowing", "Elemental", "ElementalCLI", "ElementalRecording", "Support", "TestSupport",
            ],
            path: "Tests/Recording",
            exclude: ["ElementalRecording/peer.py"]),
        .testTarget(
            name: "ObservationTests",
            dependencies: [
                "Elemental", "ElementalCLI", "ElementalObservation", "ElementalSecurity", "Support", "TestSupport",
                "Zeroconf",
            ],
            path: "Tests/Observation"),
        // The command line with real daemons, brokers and browsers, and the implementations in other languages.
        .testTarget(
            name: "ToolsTests",
            dependencies: [
                "ElementalFollowing", "Elemental", "ElementalBench", "ElementalCLI", "ElementalRecording",
                "ElementalSecurity",
                "ElementalWire", "MQTT", "MQTTBridge", "OSC", "OSCBridge", "QRCode", "SignalR", "Support",
                "TestSupport",
                "VirtualCommodore", "WireVectors", "Zeroconf",
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Tests/Tools"),
        // Compiles the programs on the pages, and runs their commands.
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "CommodoreGateway", "Elemental", "ElementalCLI", "ElementalMicro", "ElementalObservation",
                "SerialGateway",
                "SignalR", "SignalRBridge",
                "TestSupport", "VirtualCommodore",
            ],
            path: "Tests/Documentation"),
        // Replays the fuzzers' corpus and simulates networks. The fuzzers are a package of their own in the same folder.
        .testTarget(
            name: "FuzzingTests",
            dependencies: [
                "Elemental", "ElementalHistory", "ElementalMicro", "ElementalRecording", "ElementalSecurity",
                "ElementalWire", "MQTT", "OSC", "SerialLink", "SignalR", "TestSupport", "Zeroconf",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            path: "Tests/Fuzzing",
            exclude: ["build", "CLibFuzzer", "Corpus", "Fuzzer", "Package.swift"]),
        .testTarget(
            name: "FaultTests", dependencies: ["ElementalCLI", "TestSupport", "ledger"], path: "Tests/Faults"),
    ]
)
