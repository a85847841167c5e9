import Elemental
import ElementalFollowing
import NIOCore
import NIOEmbedded
import OSC
import Support
import TestSupport
import Testing

@testable import OSCBridge

/// A bridge between sockets and services of this process.
struct OSCBridgeTests {
    private static let cutoff = Element<Float>(1, "Cutoff")
    private static let mode = Element<UInt8>(2, "Mode", latest: true)

    /// A socket that sends messages to a bridge and reads what it is told.
    private struct Surface {
        let socket: RawSocket
        let port: Int

        init(_ port: Int) throws {
            socket = try RawSocket.datagram()
            self.port = port
        }

        func send(_ address: String, _ arguments: [OSCArgument]) throws {
            var bytes = ByteBuffer()
            bytes.writeOSC(OSCMessage(address, arguments))
            try socket.send(datagram: Array(bytes.readableBytesView), to: port)
        }

        func next() async throws -> OSCPacket {
            try OSCPacket(reading: ByteBuffer(bytes: try await socket.readDatagram()))
        }
    }

    private static func service() async throws -> ElementalService {
        try await startService([cutoff, mode], type: "synth", name: "Synth")
    }

    /// Runs a bridge to a service during the body, which gets its UDP port and the service's prefix.
    private static func withBridge(
        to service: ElementalService, names: [String: String] = [:],
        _ body: (_ port: Int, _ prefix: String) async throws -> Void
    ) async throws {
        var options = OSCBridgeOptions()
        options.names = names
        options.port = 0
        options.setsElements = true
        options.isAnnounced = false
        let bridge = try OSCBridge([.address(host: "127.0.0.1", port: try #require(service.port))], options: options)
        let begun = Locked<(port: Int, prefix: String)>((0, ""))
        bridge.onEvent { event in
            switch event {
            case .listening(let port, _): begun.withLock { $0.port = port }
            case .shown(_, let prefix): begun.withLock { $0.prefix = prefix }
            default: break
            }
        }
        let running = Task { try await bridge.run() }
        try await carryOut {
            try await eventually("the bridge") { begun.withLock { $0.port > 0 && !$0.prefix.isEmpty } }
            let (port, prefix) = begun.withLock { $0 }
            try await body(port, prefix)
        } finally: {
            running.cancel()
            try? await running.value
        }
    }

    @Test(.backstop)
    func elementsHaveOtherNamesInTheirAddressesUnlessThoseAreTaken() async throws {
        let service = try await Self.service()
        let set = Transcript<String>()
        service.onAnyValue { element, _, _ in set.add(element.name) }
        try await Self.withBridge(to: service, names: ["Cutoff": "Filter", "Mode": "Cutoff"]) { port, prefix in
            let surface = try Surface(port)
            for name in ["Cutoff", "Mode", "Filter"] { try surface.send(prefix + name, [.float(1)]) }
            // Values of different elements come in any order.
            let names = try await [set.next(), set.next()]
            #expect(names.sorted() == ["Cutoff", "Mode"])
        }
        await service.stop()
    }

    /// It handles values, and neither tells nor relays them.
    @Test(.backstop)
    func ofAServiceThatSaysNothingSurfacesAreToldEachValue() async throws {
        let service = try await Self.service()
        let handled = Locked<[Float]>([])
        service.onValue(of: Self.cutoff) { value, _ in handled.withLock { $0.append(value) } }
        try await Self.withBridge(to: service) { port, prefix in
            let (mover, other) = (try Surface(port), try Surface(port))
            let address = prefix + "Cutoff"
            // A value that is not known is not told; it is a surface from now on.
            try other.send(address, [])
            try mover.send(address, [.float(0)])
            #expect(try await other.next() == .message(OSCMessage(address, [.float(0)])))
            let values = (1...100).map { Float($0) }
            for value in values { try mover.send(address, [.float(value)]) }
            for value in values {
                #expect(try await other.next() == .message(OSCMessage(address, [.float(value)])))
            }
            #expect(handled.withLock { $0 } == [0] + values)
        }
        await service.stop()
    }

    /// Surfaces that are known go on with the new socket.
    @Test(.backstop)
    func aSocketThatTheSystemClosesIsOpenedAgain() async throws {
        let service = try await Self.service()
        var options = OSCBridgeOptions()
        options.port = 0
        options.setsElements = true
        options.isAnnounced = false
        let bridge = try OSCBridge([.address(host: "127.0.0.1", port: try #require(service.port))], options: options)
        let (events, shown) = (Transcript<String>(), Transcript<String>())
        bridge.onEvent { event in
            switch event {
            case .listening(let port, _): events.add("\(port)")
            case .failedToListen(let error, _): events.add(error.message)
            case .shown(_, let prefix): shown.add(prefix)
            default: break
            }
        }
        let running = Task { try await bridge.run() }
        let received = Transcript<Float>()
        service.onValue(of: Self.cutoff) { value, _ in received.add(value) }
        try service.send(1, to: Self.cutoff)
        try await carryOut {
            let address = try await shown.next { _ in true } + "Cutoff"
            let sockets = try #require(bridge.open.withLock { $0 }).sockets
            let lost = "the system has closed the socket"
            let surface = try Surface(sockets.port)
            try surface.send(address, [])
            #expect(try await surface.next() == .message(OSCMessage(address, [.float(1)])))
            try await events.next { $0 == "\(sockets.port)" }
            try await sockets.channels[0].channel.close()
            try await events.next { $0 == lost }
            try await events.next { $0 == "\(sockets.port)" }
            try service.send(2, to: Self.cutoff)
            #expect(try await surface.next() == .message(OSCMessage(address, [.float(2)])))
            try surface.send(address, [.float(3)])
            try await received.next { $0 == 3 }
            // That of OSCQuery.
            RawSocket.shutDownListener(at: try #require(bridge.open.withLock { $0 }).queryPort)
            try await events.next { $0 == lost }
            try await events.next { $0 == "\(sockets.port)" }
        } finally: {
            running.cancel()
            try? await running.value
        }
        await service.stop()
    }

    /// Two services have instances of one name, and neither loses its addresses to the other.
    @Test func instancesOfOneNameHaveAddressesOfTheirOwn() async throws {
        let service = try await Self.service()
        let device = try await service.connect()
        let channel = EmbeddedChannel()
        let core = BridgeCore(OSCBridgeOptions(), on: channel.eventLoop) { _ in }
        let keys = [ServiceKey(service: "robot", name: "Rover"), ServiceKey(service: "lamp", name: "Rover")]
        for key in keys { core.take(.state(key, .connected(device, service.elements))) }
        #expect(Set(core.levels.keys) == ["Rover", "Rover~:lamp"])
        #expect(core.addresses.count == 4)
        core.take(.state(keys[0], .gone))
        #expect(core.addresses.keys.sorted() == ["/Rover~:lamp/Cutoff", "/Rover~:lamp/Mode"])
        // The tree is what it was when somebody asked.
        guard case .root(let services)? = core.node(at: "/") else { throw TestSupportError("no root") }
        #expect(services.map(\.description) == ["lamp/Rover"])
        #expect(core.node(at: "/Rover") == nil)
        await device.close()
        await service.stop()
    }

    @Test func numbersThatAreNoPortsAreRefused() {
        for change: (inout OSCBridgeOptions) -> Void in [
            { $0.port = 65_536 },
            { $0.feedback = [OSCBridgeOptions.Destination(host: "127.0.0.1", port: -1)] },
        ] {
            var options = OSCBridgeOptions()
            change(&options)
            let error = #expect(throws: OSCBridgeError.self) { _ = try OSCBridge(options: options) }
            #expect(error?.message.contains("is not a port") == true)
        }
    }

    @Test func whoIsSilentIsForgottenUnlessNamed() throws {
        let channel = EmbeddedChannel()
        let surfaces = Surfaces([], on: channel.eventLoop)
        let addresses = try (1...2).map { try SocketAddress(ipAddress: "127.0.0.1", port: $0) }
        surfaces.addNamed(addresses[0], channel)
        #expect(surfaces.surface(at: addresses[1], channel, byteCount: 20).proof == .set)
        surfaces.forgetSilent(at: channel.eventLoop.now + Surfaces.time)
        #expect(surfaces.count == 2)
        surfaces.forgetSilent(at: channel.eventLoop.now + Surfaces.time + .nanoseconds(1))
        #expect(surfaces[addresses[0]] != nil && surfaces[addresses[1]] == nil)
    }
}
