import Elemental
import Foundation
import SignalR
import TestSupport
import Testing

@testable import SignalRBridge

/// A service, a bridge, a third-party hub, and another client of the hub.
@Suite(.enabled(if: Peers.areThere, "the peers are set up by Tests/install signalr"), .backstop)
struct SignalRBridgeTests {
    enum Rover {
        static let speed = Element<Float>(1, "Speed", range: -1...1)
        static let level = Element<UInt32>(2, "Level", latest: true)
        static let arm = Element<Vector3>(3, "Left arm")
        static let all: ElementCatalogue = [speed, level, arm]
    }

    /// One value of each type that reveals errors in byte order and sign.
    static let values: [(name: String, value: ElementValue)] = [
        ("int8", .int8(-128)), ("uint8", .uint8(255)), ("int16", .int16(-32768)), ("uint16", .uint16(65535)),
        ("int32", .int32(.min)), ("uint32", .uint32(.max)), ("int64", .int64(.min)), ("uint64", .uint64(.max)),
        ("float", .float(0.1)), ("double", .double(-1.0 / 3)), ("string", .string("é\"\u{1e}😀")),
        ("data", .data(Data([0, 1, 255]))), ("bool", .bool(true)), ("float2", .float2([1, -2.5])),
        ("float3", .float3([1, 2, 3.25])), ("float4", .float4([1, 2, 3, 0.1])),
        ("float4x4", .float4x4(Matrix4x4((0..<16).map { Float($0) / 4 }))),
    ]

    @Test(arguments: [false, true])
    func valuesOfAllTypesPassBothWays(_ isBinary: Bool) async throws {
        let elements = try ElementCatalogue(
            Self.values.enumerated().map { try ElementDefinition(id: $0, name: "v \($1.name)", type: $1.value.type) })
        // Without values for elements that are not forwarded.
        let set = Transcript<(Int8, ElementValue?)>()
        let service = service(elements)
        service.onAnyValue { element, value, _ in set.add((element.id, value)) }
        try await service.start()
        let hubProtocol: HubProtocol = isBinary ? .messagePack : .json
        let heard = Transcript<(method: String, value: HubValue)>()
        try await Peers.withHub { _, port in
            try await withBridge(service, elements, port, hubProtocol) { bridge, _ in
                bridge.onEvent { event in
                    if case .value(let value) = event, case .notPassed = value.outcome {
                        set.add((value.element.id, nil))
                    }
                }
                try await withWatcher(port, hubProtocol, Self.values.map { "V\($0.name)" }, heard) { watcher in
                    for (id, (name, value)) in Self.values.enumerated() {
                        let element = try #require(elements[id: Int8(id)])
                        // To the hub, and what the hub has of it back.
                        try service.send(value, to: element)
                        let (method, told) = try await heard.next()
                        #expect(method.lowercased() == "v\(name)")
                        try await watcher.send("Tell", method, told)
                        let (back, same) = try await set.next()
                        #expect(back == Int8(id))
                        #expect(same == value)
                    }
                }
            }
        }
        await service.stop()
    }

    @Test
    func invalidCallsOfTheHubAreRefusedAndNothingElse() async throws {
        let set = Transcript<Float>()
        let service = service(Rover.all)
        service.onValue(of: Rover.speed) { value, _ in set.add(value) }
        try await service.start()
        try await Peers.withHub { _, port in
            try await withBridge(service, Rover.all, port) { _, events in
                try await withWatcher(port, .json, [], Transcript()) { watcher in
                    try await watcher.send("Tell", "Speed", "fast")
                    #expect(try await events.failed.next() == "Speed")
                    try await watcher.send("Tell", "Speed", 5)
                    #expect(try await events.failed.next() == "Speed")
                    try await watcher.send("Tell", "LeftArm", [1, 2])
                    #expect(try await events.failed.next() == "Left arm")
                    try await watcher.send("Tell", "speed", 0.5)
                    #expect(try await set.next() == 0.5)
                }
            }
        }
        await service.stop()
    }

    /// What a rover was set to, and what its hub was told.
    private struct Bridged {
        let service: ElementalService
        let bridge: HubBridge
        let hub: HubConnection
        let set: Transcript<UInt32>
        let heard: Transcript<(method: String, value: HubValue)>

        /// Waits until the hub has been told a value, and returns all that it was told of the level before.
        func levels(until last: HubValue) async throws -> [HubValue] {
            var levels: [HubValue] = []
            while true {
                let (method, value) = try await heard.next()
                if value == last { return levels }
                if method.lowercased() == "level" { levels.append(value) }
            }
        }
    }

    /// Runs a rover, a bridge and a hub's client during the body.
    private func withRover(
        _ change: (inout BridgeOptions) -> Void = { _ in }, _ body: (Bridged) async throws -> Void
    ) async throws {
        let service = service(Rover.all)
        let (set, heard) = (Transcript<UInt32>(), Transcript<(method: String, value: HubValue)>())
        service.onValue(of: Rover.level) { value, _ in set.add(value) }
        try await service.start()
        try await Peers.withHub { _, port in
            try await withBridge(service, Rover.all, port, .json, change) { bridge, _ in
                try await withWatcher(port, .json, ["Speed", "Level"], heard) { hub in
                    try await body(Bridged(service: service, bridge: bridge, hub: hub, set: set, heard: heard))
                }
            }
        }
        await service.stop()
    }

    @Test
    func onlyTheNewestOfLatestValuesIsForwardedAndAllOthers() async throws {
        let clock = SteppedClock()
        try await withRover {
            $0.interval = .milliseconds(20)
            $0.now = clock.now
        } _: { rover in
            for number in 1...500 { try rover.service.send(UInt32(number), to: Rover.level) }
            for number in 1...3 { try rover.service.send(Float(number) / 4, to: Rover.speed) }
            // The first of each goes at once, and nothing else before the clock goes on.
            try await eventually("all have come") { rover.bridge.device.value(of: Rover.speed) == 0.75 }
            try await rover.heard.wait(for: 2)
            clock.run()
            var (levels, speeds): ([HubValue], [HubValue]) = ([], [])
            while levels.last != .integer(500) || speeds.count < 3 {
                let (method, value) = try await rover.heard.next()
                if method.lowercased() == "level" { levels.append(value) } else { speeds.append(value) }
            }
            #expect(speeds == [.double(0.25), .double(0.5), .double(0.75)])
            // One at once, unless that was the newest already.
            #expect(levels.count <= 2, "\(levels)")
        }
    }

    /// A value that is waiting when the hub sets another.
    @Test
    func anOlderValueDoesNotOvertakeTheHubs() async throws {
        let clock = SteppedClock()
        try await withRover {
            $0.interval = .milliseconds(20)
            $0.now = clock.now
        } _: { rover in
            try rover.service.send(1, to: Rover.level)
            try await rover.heard.next()
            try rover.service.send(2, to: Rover.level)
            try await eventually { rover.bridge.device.value(of: Rover.level) == 2 }
            try await rover.hub.send("Tell", "Level", 9)
            #expect(try await rover.set.next() == 9)
            // When the second of these goes, the older level could have gone.
            clock.run()
            for speed in [0.25, 0.5] { try rover.service.send(Float(speed), to: Rover.speed) }
            let levels = try await rover.levels(until: .double(0.5))
            #expect(!levels.contains(.integer(2)), "\(levels)")
        }
    }

    @Test
    func anEchoOfALatestValueIsDropped() async throws {
        try await withRover {
            $0.interval = .zero
        } _: { rover in
            try rover.service.send(7, to: Rover.level)
            try await rover.heard.next()
            for level in [7, 8] { try await rover.hub.send("Tell", "Level", level) }
            #expect(try await rover.set.next() == 8)
            #expect(rover.set.all == [8])
        }
    }

    @Test
    func aReconnectedHubGetsTheNewestValues() async throws {
        let service = service(Rover.all)
        try await service.start()
        let port = try PortLease.port()
        let ended = Transcript<Void>()
        let away = Transcript<Void>()
        let device = try await connect(service)
        try await Peers.with("server", "hub.py", ["--port", "\(port)"]) { hub in
            try await hub.nextLine(beginningWith: "listening")
            let bridge = try bridge(device, Rover.all, port)
            bridge.onEvent { event in if case .hubAway = event { away.add(()) } }
            let running = Task { try await bridge.run() }
            bridge.connection.onClosed { _ in ended.add(()) }
            let heard = Transcript<(method: String, value: HubValue)>()
            try await withWatcher(port, .json, ["Speed"], heard) { _ in
                // The bridge is there as soon as a value arrives.
                try await eventually {
                    try service.send(0.25, to: Rover.speed)
                    return !heard.all.isEmpty
                }
            }
            await hub.end()
            try await away.next()
            try service.send(0.5, to: Rover.speed)
            try service.send(9, to: Rover.level)
            try await Peers.with("server", "hub.py", ["--port", "\(port)"]) { again in
                try await again.nextLine(beginningWith: "listening")
                let heard = Transcript<(method: String, value: HubValue)>()
                try await withWatcher(port, .json, ["Speed", "Level", "LeftArm"], heard) { watcher in
                    // Values that came before this watcher did are told by the hub to nobody: what is the newest is
                    // asked for by a new one.
                    try await eventually {
                        try service.send(10, to: Rover.level)
                        try service.send(0.75, to: Rover.speed)
                        return heard.all.contains { $0.value == .integer(10) }
                    }
                }
            }
            running.cancel()
            #expect(try await running.value == nil)
        }
        try await ended.next()
        await device.close()
        await service.stop()
    }

    @Test
    func aReconnectedServiceIsBridgedAgain() async throws {
        let port = try PortLease.port()
        let first = service(Rover.all, port: port)
        try await first.start()
        let heard = Transcript<(method: String, value: HubValue)>()
        try await Peers.withHub { _, hub in
            let device = try await connect(first)
            let bridge = try bridge(device, Rover.all, hub)
            let running = Task { try await bridge.run() }
            try await withWatcher(hub, .json, ["Level"], heard) { watcher in
                var level: UInt32 = 100
                try await eventually {
                    level += 1
                    try first.send(level, to: Rover.level)
                    return !heard.all.isEmpty
                }
                await first.stop()
                // Kept until the service is back.
                try await eventually { device.isReconnecting }
                let set = Transcript<UInt32>()
                try await watcher.send("Tell", "Level", 77)
                let again = service(Rover.all, port: port)
                again.onValue(of: Rover.level) { value, _ in set.add(value) }
                try await again.start()
                #expect(try await set.next() == 77)
                try again.send(78, to: Rover.level)
                while try await heard.next().value != .integer(78) {}
                // A device that ends for good ends the bridge.
                device.disconnect()
                #expect(try await running.value != nil)
                await again.stop()
            }
        }
    }

    @Test
    func anUnreachableHubIsAnErrorAtTheStart() async throws {
        let service = service(Rover.all)
        try await service.start()
        let device = try await connect(service)
        let port = try PortLease.port()
        let bridge = try bridge(device, Rover.all, port)
        await #expect(throws: SignalRError.self) { try await bridge.run() }
        await device.close()
        await service.stop()
    }
}
