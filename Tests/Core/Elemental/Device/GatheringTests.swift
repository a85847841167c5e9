import Foundation
import TestSupport
import Testing

@testable import Elemental

/// Values that arrive in many reads: counted like those in one read, and buffered only if they are accepted.
struct GatheringTests {
    private static let greeting: [UInt8] = [0xfe, 1, 0, 0, 0, 0x68, 0xfc, 7, 0, 0, 0, 1, 0b10101, 0, 0, 0, 0, 0]

    @Test("refused values are counted when they end, and the stream goes on")
    func counting() async throws {
        try await withService { service, port in
            let peer = try RawSocket.connect(to: port)
            try peer.write(Self.greeting)
            // More than a read takes.
            let long = [UInt8](repeating: 65, count: 3_000_000)
            try peer.write(frame(99, long))  // undefined
            try peer.write(frame(5, long))  // a UInt32
            try peer.write(frame(6, long))  // read-only, and of another length
            try peer.write(frame(-100, Array(long.prefix(100_000))))  // a system element that does not exist
            try peer.write(frame(7, [42]))
            try await eventually { service.devices.first?.value(of: Lamp.command) == 42 }
            try await eventually { service.devices.first?.statistics.messagesReceived == 1 }
            let statistics = try #require(service.devices.first?.statistics)
            #expect(statistics.messagesUnknown == 2)
            #expect(statistics.messagesMalformed == 2)
            #expect(statistics.bytesReceived > 9_000_000)
        }
    }

    @Test("a long name is truncated, and a longer hello of a later version is understood, however they are split")
    func systemFrames() throws {
        let service = EmbeddedService()
        let peer = try service.connect()
        let name = frame(-2, [UInt8](repeating: 97, count: 5000))
        let hello = frame(-4, [2, 0b10101, 0, 0, 0, 0, 0] + [UInt8](repeating: 9, count: 1993))
        for part in [name[..<3], name[3..<700], name[700...], hello[..<6], hello[6...]] { peer.say(Array(part)) }
        let device = try #require(service.service.devices.first)
        #expect(device.hello?.version == 2)
        #expect(device.name == String(repeating: "a", count: 1024))
        #expect(peer.isOpen)
    }

    @Test("incomplete values have a limit for all connections together; who exceeds it is disconnected with the reason")
    func limitOfAService() async throws {
        try await withService(Lamp.all, { $0.maximumIncompleteByteCount = 1_000_000 }) { service, port in
            let reasons = service.gatherReasons()
            func begin() throws -> RawSocket {
                let peer = try RawSocket.connect(to: port)
                let part = frame(4, [UInt8](repeating: 1, count: 5_000_000)).prefix(5 + 450_000)
                try peer.write(Self.greeting + part)
                return peer
            }
            let peers = [try begin(), try begin()]
            try await eventually { service.devices.map(\.statistics.bytesReceived).reduce(0, +) > 900_000 }
            let third = try begin()
            let text = String(decoding: try await third.readToEnd(), as: UTF8.self)
            #expect(text.contains("the service's maximum of 1000000 bytes"), "\(text)")
            try await reasons.wait(for: 1)
            #expect(reasons.all.first?.code == "limitReached")
            #expect(service.devices.count == 2)
            // There is room again: nothing of the ended connection is left in the count.
            let fourth = try RawSocket.connect(to: port)
            try fourth.write(Self.greeting + frame(4, [UInt8](repeating: 2, count: 80_000)))
            try await eventually { service.devices.contains { $0.value(of: Lamp.blob)?.count == 80_000 } }
            withExtendedLifetime(peers) {}
        }
    }
}
