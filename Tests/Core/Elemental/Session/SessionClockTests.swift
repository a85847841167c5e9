import ElementalWire
import Foundation
import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import Elemental

/// The time limits of connections, with a manual clock.
struct SessionClockTests {
    private static let identifier: [UInt8] = [0xff, 1, 0, 0, 0, 1]
    private static let name: [UInt8] = [0xfe, 1, 0, 0, 0, 0x68]
    private static let ping = frame(SystemElement.ping.rawValue, [UInt8](repeating: 0, count: 8))
    private static let pong = frame(SystemElement.pong.rawValue, [UInt8](repeating: 0, count: 8))

    private static func hello(_ features: Hello.Features) -> [UInt8] {
        frame(SystemElement.hello.rawValue, Hello(features: features).wireBytes)
    }

    // MARK: Clients of a service

    /// Neither part of a frame nor a name that comes byte by byte extends the time.
    @Test(arguments: [([], []), ([0xfe, 200, 0], []), ([0xfe, 0, 0, 1, 0], [0x6c])] as [([UInt8], [UInt8])])
    func aClientThatDoesNotSayItsNameIsClosedInTime(_ first: [UInt8], _ eachSecond: [UInt8]) throws {
        let service = EmbeddedService()
        let good = try service.connect(from: "192.0.2.2")
        good.say(Self.name)
        let slow = try service.connect()
        slow.say(first)
        for _ in 0..<9 {
            service.wait(1)
            slow.say(eachSecond)
        }
        service.wait(0.999)
        #expect(slow.isOpen)
        service.wait(0.001)
        #expect(!slow.isOpen)
        #expect(try slow.heard().first == 0xff)
        service.wait(1000)
        #expect(good.isOpen)
        #expect(service.service.devices.map(\.name) == ["h"])
    }

    @Test
    func silentClientsUseUpTheLimitOfTheirAddressOnlyAndReleaseItInTime() throws {
        let service = EmbeddedService { $0.maximumDeviceCountPerAddress = 2 }
        let flood = try (0..<5).map { _ in try service.connect() }
        #expect(flood.map(\.isOpen) == [true, true, false, false, false])
        #expect(try String(decoding: flood[2].heard(), as: UTF8.self).contains("2 connections from this address"))
        let other = try service.connect(from: "192.0.2.2")
        other.say(Self.name)
        service.wait(10)
        #expect(flood.allSatisfy { !$0.isOpen })
        let late = try service.connect()
        late.say(Self.name)
        #expect(service.service.devices.count == 2)
        #expect(other.isOpen && late.isOpen)
    }

    @Test
    func aClientThatAnswersPingsIsPingedUntilItFallsSilent() throws {
        let service = EmbeddedService()
        let reasons = service.service.gatherReasons()
        let peer = try service.connect()
        peer.say(Self.name + Self.hello([.ping]))
        _ = try peer.heard()
        for _ in 0..<100 {
            service.wait(20)
            #expect(try peer.heard() == Self.ping)
            service.wait(0.25)
            peer.say(Self.pong)
        }
        #expect(service.service.devices.first?.statistics.roundTripTime == .milliseconds(250))
        service.wait(89.999)
        #expect(peer.isOpen && reasons.all.isEmpty)
        service.wait(0.001)
        #expect(!peer.isOpen)
        let text = "the peer sent nothing for 90.0 seconds, not even an answer to a ping"
        #expect(reasons.all.map(\.kind) == [.timedOut(text)])
    }

    @Test
    func anOlderClientIsNotPinged() throws {
        let service = EmbeddedService()
        let older = try service.connect()
        older.say(Self.name)
        service.wait(1000)
        #expect(older.isOpen)
        #expect(try older.heard() == Self.identifier)
    }

    /// It reads no acknowledgements any more, so the pieces do not wait for them.
    @Test
    func whoPausesInAHandlerSendsTheRestOfALargeValue() throws {
        let service = EmbeddedService()
        service.service.onValue(of: Lamp.count) { _, device in device.pause() }
        let peer = try service.connect()
        peer.say(Self.name + Self.hello([.pieces]))
        _ = try peer.heard()
        let device = try #require(service.service.devices.first)
        try device.send(Data(count: 512 * 1024), to: Lamp.blob)
        service.loop.run()
        let first = try peer.heard().count
        #expect(first < 2 * Piece.windowByteCount)
        peer.say(frame(Lamp.count.id, [UInt8](repeating: 1, count: 8)))
        let rest = try peer.heard().count
        #expect(first + rest > 512 * 1024)
    }

    // MARK: A client's connection

    @Test(
        arguments: [
            ([], "the service's UDP identifier"), (identifier, "the service's hello"),
            // Too short.
            (identifier + [0xfc, 1, 0, 0, 0, 1], "the service's hello"),
            (identifier + hello([.catalogue]), "the service's catalogue"),
        ] as [([UInt8], String)])
    func aTimeOutSaysWhichPartOfTheHandshakeIsMissing(_ said: [UInt8], _ missing: String) throws {
        let loop = EmbeddedEventLoop()
        let service = try EmbeddedPeer(on: loop)
        let device = ElementalDevice(
            role: .service, name: "Test", address: nil, service: nil, elements: ElementTable([]),
            executor: LoopExecutor(on: loop), limits: DeviceLimits(), logger: ServiceConfiguration().logger)
        let owner = EmbeddedOwner()
        let session = Session(
            device: device, table: ElementTable([]), sharedHandlers: nil, expectsHello: true, owner: owner)
        try service.channel.pipeline.syncOperations.addHandler(session)
        service.connect()
        service.say(said)
        loop.advanceTime(by: .milliseconds(9999))
        #expect(owner.reason == nil)
        loop.advanceTime(by: .milliseconds(1))
        #expect(owner.reason?.kind == .timedOut("\(missing) did not arrive within 10.0 seconds"))
    }
}
