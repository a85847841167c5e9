import NIOCore
import NIOEmbedded
import OSC
import Support
import Testing

@testable import OSCBridge

/// What surfaces can cost a bridge, whatever they send.
struct BoundTests {
    /// A bridge without services, and what it tells.
    private final class Bed {
        let channel = EmbeddedChannel()
        let core: BridgeCore
        private final class Told { var events: [OSCBridgeEvent] = [] }
        private let told = Told()

        var overloads: Int { told.events.count { if case .overloaded = $0 { true } else { false } } }
        var unknown: Int { told.events.count { if case .unknownAddress = $0 { true } else { false } } }

        init(_ networks: [String] = []) {
            var options = OSCBridgeOptions()
            options.setsElements = true
            options.allowedNetworks = networks
            let told = told
            core = BridgeCore(options, on: channel.eventLoop) { told.events.append($0) }
        }

        func receive(_ packet: OSCPacket, from host: String = "127.0.0.1", port: Int = 1) throws {
            var bytes = ByteBuffer()
            bytes.writeOSC(packet)
            core.receive(bytes, from: try SocketAddress(ipAddress: host, port: port), channel)
        }
    }

    private static let message = OSCPacket.message(OSCMessage("/a/b", [.float(1)]))

    @Test func surfacesAreBounded() throws {
        let bed = Bed()
        for port in 1...100 { try bed.receive(Self.message, port: port) }
        #expect(bed.core.surfaces.count == Surfaces.most)
        #expect(try bed.core.surfaces[SocketAddress(ipAddress: "127.0.0.1", port: 100)] != nil)
        // Each is told of once.
        #expect(bed.unknown == 100)
        try bed.receive(Self.message, port: 100)
        #expect(bed.unknown == 100)
    }

    @Test func onlyThisMachineAndAllowedNetworksAreHeard() throws {
        let closed = Bed()
        for host in ["192.168.1.7", "10.0.0.1", "fe80::1"] { try closed.receive(Self.message, from: host) }
        #expect(closed.core.surfaces.isEmpty)
        for host in ["127.0.0.1", "127.1.2.3", "::1"] { try closed.receive(Self.message, from: host) }
        #expect(closed.core.surfaces.count == 3)
        let open = Bed(["192.168.1.0/24"])
        for host in ["192.168.1.7", "192.168.2.7"] { try open.receive(Self.message, from: host) }
        #expect(open.core.surfaces.count == 1)
    }

    /// Anybody can make up the sender of a datagram.
    @Test func whoIsMadeUpDrivesNobodyOutAndIsToldNothing() throws {
        let channel = EmbeddedChannel()
        let surfaces = Surfaces([], on: channel.eventLoop)
        func surface(_ host: String, _ port: Int) throws -> Surface {
            surfaces.surface(at: try SocketAddress(ipAddress: host, port: port), channel, byteCount: 20)
        }
        func told() throws -> Set<SocketAddress> {
            surfaces.write(ByteBuffer(string: "/a"), of: Surface.ElementKey(service: 1, id: 1))
            surfaces.flush()
            var told: Set<SocketAddress> = []
            while let sent = try channel.readOutbound(as: AddressedEnvelope<ByteBuffer>.self) {
                told.insert(sent.remoteAddress)
            }
            return told
        }
        let (setter, asker) = (try surface("10.0.0.1", 1), try surface("10.0.0.1", 2))
        #expect(try told().isEmpty)
        surfaces.note(.set, of: setter)
        // It is answered, and asks again.
        surfaces.write(ByteBuffer(), of: Surface.ElementKey(service: 1, id: 1), to: asker)
        _ = try surface("10.0.0.1", 2)
        for port in 1...1000 { _ = try surface("10.0.0.2", port) }
        _ = try channel.readOutbound(as: AddressedEnvelope<ByteBuffer>.self)
        #expect(try told() == [setter.address, asker.address])
        // Who sends twice drives out who has only asked.
        for port in 1...1000 { surfaces.note(.answered, of: try surface("10.0.0.2", port)) }
        #expect(try told().contains(setter.address))
        #expect(surfaces.count <= 3 * Surfaces.most)
    }

    @Test("an address that only sent is told a multiple of that and 1 KiB a second, and the newest value in the end")
    func whoOnlySentIsToldLittle() throws {
        let channel = EmbeddedChannel()
        let surfaces = Surfaces([], on: channel.eventLoop)
        let key = Surface.ElementKey(service: 1, id: 1)
        let message = ByteBuffer(repeating: 65, count: 20)
        var rested = 0
        surfaces.onRest = { surface, key, _ in
            rested += 1
            surfaces.write(message, of: key, to: surface)
        }
        let named = try SocketAddress(ipAddress: "10.0.0.9", port: 9)
        surfaces.addNamed(named, channel)
        let address = try SocketAddress(ipAddress: "10.0.0.1", port: 1)
        let surface = surfaces.surface(at: address, channel, byteCount: 20)
        surfaces.note(.set, of: surface)
        func told(_ count: Int) throws -> [SocketAddress: Int] {
            for _ in 0..<count { surfaces.write(message, of: key) }
            surfaces.flush()
            var told: [SocketAddress: Int] = [:]
            while let sent = try channel.readOutbound(as: AddressedEnvelope<ByteBuffer>.self) {
                told[sent.remoteAddress, default: 0] += sent.data.readableBytes
            }
            return told
        }
        #expect(try told(10_000) == [named: 200_000, address: 20 * Surface.multiple])
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(rested > 0)
        #expect(try told(10_000)[address, default: 0] <= Surface.bytesPerSecond)
        // A program of the host is connected.
        surfaces.isConnected = { $0 == surface.host }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        _ = try told(0)
        #expect(try told(10_000)[address] == 200_000)
    }

    @Test func whatWaitsForItsTimeIsBounded() throws {
        let bed = Bed()
        // The time of each is still to come, however slow this test is.
        func receive(_ count: Int, of messages: [OSCPacket]) throws {
            for _ in 0..<count {
                let soon = OSCTimeTag(unixNanoseconds: WallClock.nanoseconds + 30_000_000_000)
                try bed.receive(.bundle(soon, messages))
            }
        }
        let many = [OSCPacket](repeating: Self.message, count: 1000)
        try receive(4, of: many)
        #expect(bed.core.timedCount == 4000)
        #expect(bed.overloads == 0)
        try receive(100, of: many)
        #expect(bed.core.timedCount == 4000)
        // Empty ones cost a timer each.
        try receive(1000, of: [])
        #expect(bed.core.timedCount == BridgeCore.mostTimed)
        // Told once in ten seconds, not for each.
        #expect(bed.overloads == 1)
        bed.channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        try receive(10, of: many)
        #expect(bed.overloads == 2)
    }

    /// A few messages can be long, and what is read of them must not keep the socket's buffers.
    @Test func bytesThatWaitForTheirTimeAreBounded() throws {
        let bed = Bed()
        let long = OSCPacket.message(OSCMessage("/a/b", [.blob(ByteBuffer(repeating: 1, count: 60_000))]))
        for _ in 0..<200 {
            try bed.receive(
                .bundle(OSCTimeTag(unixNanoseconds: WallClock.nanoseconds + 30_000_000_000), [long]))
        }
        #expect(bed.core.timedByteCount <= BridgeCore.mostTimedBytes)
        #expect(bed.core.timedCount == BridgeCore.mostTimedBytes / 60_040 && bed.overloads == 1)
        bed.channel.embeddedEventLoop.advanceTime(by: .seconds(31))
        #expect(bed.core.timedByteCount == 0 && bed.core.timedCount == 0)
    }

    @Test func whatIsTooFarAheadIsLeftOut() throws {
        let bed = Bed()
        let late = OSCTimeTag(unixNanoseconds: WallClock.nanoseconds + 61_000_000_000)
        try bed.receive(.bundle(late, [Self.message]))
        #expect(bed.core.timedCount == 0)
        #expect(bed.overloads == 1)
        // What is past is carried out at once.
        try bed.receive(.bundle(OSCTimeTag(unixNanoseconds: 0), [Self.message]))
        #expect(bed.unknown == 1)
    }

    /// The sender's seconds, this machine's since 1970, and the wait: in 2026 and after 2036, when NTP's begin again.
    @Test(
        arguments: [
            (0, 1_795_828_036, 0), (86_400, 1_795_828_036, 0), (817_520_836, 1_795_828_036, 0),
            (1_795_828_036, 1_795_828_036, 0), (1_795_828_036 + 2_208_988_800 + 30, 1_795_828_036, 30),
            (1_795_828_036 + 2_208_988_800 + 5000, 1_795_828_036, nil), (0, 2_100_000_000, 0),
            (86_400, 2_100_000_000, 0),
            (1_121_692_800, 2_100_000_000, 0), (2_100_000_000, 2_100_000_000, 0), (14_021_504 + 30, 2_100_000_000, 30),
            (14_021_504 + 5000, 2_100_000_000, nil),
        ] as [(UInt64, UInt64, UInt64?)])
    func timesThatAreCountedFromElsewhereAreDue(_ seconds: UInt64, _ now: UInt64, _ wait: UInt64?) {
        let time = OSCTimeTag(rawValue: seconds << 32)
        #expect(BridgeCore.wait(for: time, at: now * 1_000_000_000) == wait.map { $0 * 1_000_000_000 })
    }

    @Test func whatIsSpentFillsUpAgain() {
        let start = NIODeadline.now()
        var allowance = TokenBucket(capacity: 100, perSecond: 10, at: start)
        let asked: [(amount: Int, second: Int64)] = [(100, 0), (1, 0), (11, 1), (10, 1), (100, 1000), (1, 1000)]
        let granted = asked.map { allowance.take($0.amount, at: start + .seconds($0.second)) }
        #expect(granted == [true, false, false, true, true, false])
    }
}
