import Dispatch
import Elemental
import ElementalFollowing
import NIOCore
import NIOEmbedded
import NIOPosix
import OSC
import Support
import TestSupport
import Testing

@testable import OSCBridge

/// What a surface is told of an element that it moves, by a clock that only these tests set.
struct MotionTests {
    private static let cutoff = Element<Float>(1, "Cutoff")

    private struct Endpoint {
        let address: SocketAddress
        let channel: NIOAsyncTestingChannel
    }

    /// A bridge to one service, of which the test is the network and the clock.
    private final class Bridge: Sendable {
        let loop = NIOAsyncTestingEventLoop()
        let surfaces: [Endpoint]
        private let core: NIOLoopBound<BridgeCore>

        init(_ device: ElementalDevice, surfaces count: Int) async throws {
            let loop = loop
            surfaces = try (1...count).map {
                Endpoint(
                    address: try SocketAddress(ipAddress: "127.0.0.1", port: $0),
                    channel: NIOAsyncTestingChannel(loop: loop))
            }
            core = try await loop.executeInContext {
                var options = OSCBridgeOptions()
                options.setsElements = true
                let core = BridgeCore(options, on: loop) { _ in }
                core.take(.state(ServiceKey(service: "synth", name: "Synth"), .connected(device, [cutoff])))
                return NIOLoopBound(core, eventLoop: loop)
            }
        }

        /// A surface sets the element, or asks for its value.
        func send(_ arguments: [OSCArgument], from surface: Endpoint) async throws {
            try await loop.executeInContext { [core] in
                var bytes = ByteBuffer()
                bytes.writeOSC(OSCMessage("/Synth/Cutoff", arguments))
                core.value.receive(bytes, from: surface.address, surface.channel)
            }
        }

        /// What a surface is told now; `nil` if there is nothing.
        func told(_ surface: Endpoint) async throws -> OSCPacket? {
            await loop.run()
            let envelope = try await surface.channel.readOutbound(as: AddressedEnvelope<ByteBuffer>.self)
            return try envelope.map { try OSCPacket(reading: $0.data) }
        }

        /// What a surface is told next.
        func next(_ surface: Endpoint) async throws -> OSCPacket? {
            var packet: OSCPacket?
            try await eventually("it is told") {
                packet = try await told(surface)
                return packet != nil
            }
            return packet
        }

        func end() async throws {
            try await loop.executeInContext { [core] in core.value.end() }
            for surface in surfaces { _ = try await surface.channel.finish(acceptAlreadyClosed: true) }
        }
    }

    private static func value(_ value: Float) -> OSCPacket { .message(OSCMessage("/Synth/Cutoff", [.float(value)])) }

    /// A surface moves an element, and the service takes longer for its value than the surface moves.
    @Test(.backstop)
    func aSlowServiceDoesNotMoveTheFaderBack() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let (isHandling, mayHandle) = (Latch(), DispatchSemaphore(value: 0))
        var configuration = ServiceConfiguration.loopback()
        configuration.eventLoopGroup = group
        let service = ElementalService("synth", elements: [Self.cutoff], configuration: configuration)
        service.onValue(of: Self.cutoff) { value, _ in
            guard value == 2 else { return }
            isHandling.open()
            mayHandle.wait()
        }
        try await service.start()
        let device = try await service.connect()
        do {
            defer { mayHandle.signal() }
            let bridge = try await Bridge(device, surfaces: 2)
            let (mover, other) = (bridge.surfaces[0], bridge.surfaces[1])
            try await bridge.send([], from: other)
            try await bridge.send([.float(0)], from: mover)
            #expect(try await bridge.next(other) == Self.value(0))
            // It is still moving, and missed what the other was told.
            try await bridge.send([.float(2)], from: mover)
            #expect(await isHandling.wait(Patience.wait, on: MultiThreadedEventLoopGroup.singleton.any()))
            await bridge.loop.advanceTime(by: Surface.restTime * 5)
            #expect(try await bridge.told(mover) == nil)
            mayHandle.signal()
            #expect(try await bridge.next(other) == Self.value(2))
            // It is told nothing of the value that it sent itself.
            await bridge.loop.advanceTime(by: Surface.answerTime)
            #expect(try await bridge.told(mover) == nil)
            try await bridge.send([], from: mover)
            #expect(try await bridge.next(mover) == Self.value(2))
            try await bridge.end()
        }
        await device.close()
        await service.stop()
        try await group.shutdownGracefully()
    }
}
