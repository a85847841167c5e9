import Foundation
import TestSupport
import Testing

/// Services that are more than a list of elements: one for paired clients, and a Commodore.
@Suite(.needsMosquitto)
struct DeviceKindTests {
    /// The bridge names the command that pairs it, and connects once that was typed.
    @Test(.backstop, arguments: [true, false])
    func aServiceForPairedClients(hasControl: Bool) async throws {
        try await MosquittoBroker.with { broker in
            try await PairedLamp.with { lamp in
                let options = ["--state", lamp.bridgeState] + (hasControl ? ["--control"] : [])
                try await BridgeBed.withBridge(broker.port, [lamp.target], options) { bridge in
                    let command = try await lamp.pair(bridge)
                    #expect(command.contains(hasControl ? "control" : "observe"), "\(command)")
                    try await TopicWatch.with(port: broker.port) { watch in
                        let device = try await DeviceTopics.ofAddress(lamp.target, in: watch)
                        try await watch.wait(for: device("level"), toBe: "0.5")
                        let check = try await watch.discovery(of: device)
                        #expect(check.problems == [])
                        #expect(check.components.map(\.platform) == [hasControl ? "number" : "sensor"])
                        guard hasControl else { return }
                        try await MosquittoClient.publish(port: broker.port, device("level/set"), "0.25")
                        try await watch.wait(for: device("level"), toBe: "0.25")
                    }
                }
            }
        }
    }

    @Test(.backstop, .enabled(if: CommodoreProgram.isAvailable))
    func aCommodoreIsADevice() async throws {
        try await withFolder { folder in
            let program = folder + "/commodore.prg"
            try Data(await CommodoreProgram.prg).write(to: URL(filePath: program))
            try await MosquittoBroker.with { broker in
                try await Den.with(["--virtual", program]) { _, _, target in
                    try await BridgeBed.withBridge(broker.port, [target], ["--control"]) { _ in
                        try await TopicWatch.with(port: broker.port) { watch in
                            let device = try await DeviceTopics.ofAddress(target, in: watch)
                            try await expectCommodore(device, watch, broker)
                        }
                    }
                }
            }
        }
    }

    private func expectCommodore(_ device: DeviceTopics, _ watch: TopicWatch, _ broker: MosquittoBroker) async throws {
        try await watch.wait(for: device("present"), toBe: "true")
        let check = try await watch.discovery(of: device) { $0.components.contains { $0.platform == "image" } }
        #expect(check.problems == [])
        // Of a virtual one the joysticks can be moved.
        let platforms = ["border": "select", "print": "text", "joystick1": "number", "recordsSent": "sensor"]
        for (name, platform) in platforms {
            #expect(check.components.first { $0.text("name") == name }?.platform == platform, "\(name)")
        }
        try await MosquittoClient.publish(port: broker.port, device("border/set"), "light blue")
        try await watch.wait(for: device("border"), toBe: "light blue")
        try await MosquittoClient.publish(port: broker.port, device("border/set"), "pink")
        try await watch.wait(for: device("border/refused")) { $0.contains("pink") }
        let screen = try await watch.wait(for: device("screen")) { !$0.isEmpty }
        #expect(screen.payload.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    }
}
