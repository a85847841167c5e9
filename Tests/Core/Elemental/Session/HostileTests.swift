import Elemental
import ElementalWire
import Foundation
import TestSupport
import Testing

/// Peers that violate the protocol. The service goes on serving the others.
struct HostileTests {
    private func withHostile(
        _ change: (inout ServiceConfiguration) -> Void = { _ in },
        _ body: (_ service: ElementalService, _ port: Int, _ hostile: RawSocket) async throws -> Void
    ) async throws {
        try await withService(Lamp.all, change) { service, port in
            let good = try await connect(port, as: "good")
            let hostile = try RawSocket.connect(to: port)
            _ = try await hostile.readFrame()
            try await body(service, port, hostile)
            // The well-behaved client is still served.
            #expect(try await good.ping() > .zero)
            await good.close()
        }
    }

    @Test("a length of 4 GiB ends the connection with a reason both ends can read")
    func hugeLength() async throws {
        try await withHostile { service, _, hostile in
            let reasons = service.gatherReasons()
            try hostile.write([0xfe, 1, 0, 0, 0, 0x68])
            try await eventually { service.devices.count == 2 }
            try hostile.write([1, 0xff, 0xff, 0xff, 0xff, 0, 0])
            let frame = try await hostile.readFrame()
            #expect(frame.id == SystemElement.shutdown.rawValue)
            #expect(String(decoding: frame.value, as: UTF8.self).contains("protocol violation"))
            _ = try await hostile.readToEnd()
            try await reasons.wait(for: 1)
            let reason = try #require(reasons.all.first)
            #expect(reason.code == "protocolViolation" && "\(reason)".contains("4294967295"), "\(reason)")
        }
    }

    @Test
    func aFloodOfUnknownIdentifiersIsCountedAndSkipped() async throws {
        try await withHostile { service, _, hostile in
            var flood: [UInt8] = [0xfe, 1, 0, 0, 0, 0x68]
            for index in 0..<200_000 { flood += [UInt8(20 + index % 100), 1, 0, 0, 0, 7] }
            try hostile.write(flood)
            try await eventually { service.devices.contains { $0.statistics.messagesUnknown == 200_000 } }
        }
    }

    @Test
    func systemElementsOutOfTurnAreSkipped() async throws {
        try await withHostile { service, _, hostile in
            // Every system identifier, known or not, before the name and after it, with a byte that fits none.
            var bytes: [UInt8] = []
            for id in (-128)...(-1) where id != -2 { bytes += [UInt8(bitPattern: Int8(id)), 1, 0, 0, 0, 0xff] }
            try hostile.write(bytes + [0xfe, 1, 0, 0, 0, 0x68] + bytes + [7, 1, 0, 0, 0, 42])
            let device = Transcript<ElementalDevice>()
            try await eventually {
                guard let found = service.devices.first(where: { $0.name == "h" }) else { return false }
                device.add(found)
                return found.value(of: Lamp.command) == 42
            }
            let found = try #require(device.all.first)
            // Counted at the end of a read, which may come after its last value.
            try await eventually {
                let statistics = found.statistics
                return statistics.messagesUnknown + statistics.messagesMalformed == 254
            }
        }
    }

    @Test
    func randomBytesEndOnlyTheirOwnConnection() async throws {
        var random = SeededGenerator(seed: 1)
        try await withHostile { service, port, _ in
            for _ in 0..<50 {
                let socket = try RawSocket.connect(to: port)
                var bytes = (0..<Int.random(in: 1...5000, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                if Bool.random(using: &random) {
                    bytes = [0xfe, 1, 0, 0, 0, 0x68, 0xfc, 7, 0, 0, 0, 1, 15, 0, 0, 0, 9, 9] + bytes
                }
                // The service may close while we write.
                try? socket.write(bytes)
                socket.closeOutput()
                _ = try? await socket.readToEnd()
            }
            try await eventually("devices left: \(service.devices)") { service.devices.map(\.name) == ["good"] }
        }
    }

    /// ``SessionClockTests`` tests the exact time.
    @Test
    func peersThatAreSlowWithTheirNamesAreDisconnectedInTime() async throws {
        try await withService(Lamp.all, { $0.limits.handshakeTimeout = .milliseconds(50) }) { service, port in
            let slow = try (0..<50).map { _ in try RawSocket.connect(to: port) }
            for peer in slow { try? peer.write([0xfe, 200, 0]) }
            for peer in slow { #expect(try await peer.readFrame().id == SystemElement.udpIdentifier.rawValue) }
            for peer in slow { #expect(try await peer.readToEnd().isEmpty) }
        }
    }

    @Test("a flood of datagrams with forged identifiers is ignored")
    func forgedDatagrams() async throws {
        try await withService(Lamp.all) { service, port in
            let good = try await connect(port, as: "good")
            let received = Transcript<Vector3>()
            service.onValue(of: Lamp.motion) { value, _ in received.add(value) }
            // Made once so that the address of the client's own datagrams is known.
            try good.send(Vector3(1, 2, 3), to: Lamp.motion)
            try await received.wait(for: 1)
            let forger = try RawSocket.datagram(address: "127.0.0.9")
            // A program on the client's host may use the identifiers of its host alone: an older client tells no port.
            let neighbour = try RawSocket.datagram()
            let body = [UInt8(12), 0, 0, 0]
            for number in 0..<20_000 {
                let identifier = UInt8(truncatingIfNeeded: number)
                let value = [UInt8](repeating: identifier, count: 12)
                let datagram = [UInt8(Lamp.motion.id)] + body + [identifier] + value
                let sender = number.isMultiple(of: 2) || identifier == good.udpIdentifier ? forger : neighbour
                try sender.send(datagram: datagram, to: port)
            }
            // Until the flood is over, it may fill the socket's buffer and displace other datagrams.
            try await eventually { (try? await good.ping(over: .udp, timeout: .milliseconds(200))) != nil }
            try good.send(Vector3(4, 5, 6), to: Lamp.motion)
            try await received.wait(for: 2)
            #expect(received.all == [Vector3(1, 2, 3), Vector3(4, 5, 6)])
            await good.close()
        }
    }

    @Test
    func aPeerThatPingsAndNeverReadsTakesNoMemory() async throws {
        try await withHostile({ $0.limits.maximumQueueByteCount = 100_000 }) { service, _, hostile in
            try hostile.write([0xfe, 1, 0, 0, 0, 0x68, 0xfc, 7, 0, 0, 0, 1, 15, 0, 0, 0, 0, 0])
            let ping: [UInt8] = [0xfa, 0, 4, 0, 0] + [UInt8](repeating: 7, count: 1024)
            for _ in 0..<20 { try hostile.write(Array(repeating: ping, count: 1000).flatMap { $0 }) }
            try await eventually { service.devices.contains { $0.statistics.bytesReceived >= 20_000 * 1029 } }
            let device = try #require(service.devices.first { $0.name == "h" })
            #expect(device.statistics.messagesUnsent <= 100_000 / 1029 + 2)
        }
    }

    @Test("1,000 connections that open and close leak no descriptor")
    func connectAndVanish() async throws {
        let arguments = [
            "publish", "test", "--unlisted", "--address", "127.0.0.1", "--element", "7:Command:uint8", "--json",
        ]
        try await ChildProcess.with(try BuiltProduct.path(of: "elemental"), arguments) { child in
            let port = try await child.listeningPort()
            // The first connection may open descriptors that stay.
            let first = try await connect(port, elements: nil)
            await first.close()
            let before = try ProcessFigures(of: child).descriptors
            for index in 0..<1000 {
                let socket = try RawSocket.connect(to: port)
                if index.isMultiple(of: 3) { try socket.write([0xfe, 1, 0, 0, 0, 0x68]) }
                if index.isMultiple(of: 5) { try? socket.write([1, 200, 0, 0]) }
            }
            try await eventually("at most \(before + 20) descriptors") {
                try ProcessFigures(of: child).descriptors <= before + 20
            }
            let device = try await connect(port, elements: nil)
            #expect(device.udpIdentifier != 0)
            await device.close()
        }
    }

    @Test
    func the255thDeviceHasNoUDPAndIsToldSo() async throws {
        try await withService(Lamp.all, { $0.limits.handshakeTimeout = Patience.wait * 10 }) { service, port in
            var clients: [RawSocket] = []
            var identifiers: Set<UInt8> = []
            for _ in 0..<254 {
                let client = try RawSocket.connect(to: port)
                identifiers.insert(try #require(try await client.readFrame().value.first))
                clients.append(client)
            }
            #expect(identifiers == Set(1...254))
            let device = try await connect(port)
            #expect(device.udpIdentifier == 0)
            let error = #expect(throws: ElementalError.self) { try device.send([1, 2, 3], to: Lamp.motion) }
            #expect(error?.code == .udpUnavailable)
            #expect(error?.message.contains("254") == true)
            try device.send(0.5, to: Lamp.brightness)
            #expect(try await device.ping() > .zero)
            // One disconnects: its identifier is free for the next.
            clients.removeLast()
            try await eventually {
                let next = try await connect(port)
                defer { next.disconnect() }
                return next.udpIdentifier != 0
            }
            await device.close()
        }
    }
}
