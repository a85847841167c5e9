import Elemental
import Foundation
import TestSupport
import Testing

/// Limits for peers, and what happens to those that exceed them.
struct LimitTests {
    private func reasons(_ service: ElementalService) -> Transcript<DisconnectReason> {
        let reasons = Transcript<DisconnectReason>()
        service.onEvent { event in
            if case .deviceDisconnected(_, let reason) = event { reasons.add(reason) }
        }
        return reasons
    }

    @Test("a client that never reads is disconnected in time, and the others are served meanwhile")
    func stuckClient() async throws {
        let change: (inout ServiceConfiguration) -> Void = { $0.limits.stuckTimeout = .seconds(5) }
        try await withService(Lamp.all, change) { service, port in
            let reasons = reasons(service)
            let stuck = try RawSocket.connect(to: port)
            try stuck.write([0xfe, 1, 0, 0, 0, 0x73])
            let good = try await connect(port)
            let received = Transcript<Data>()
            good.onValue(of: Lamp.blob) { received.add($0) }
            try await eventually { service.devices.count == 2 }
            // More than the system's buffers hold.
            for count in 1...60 {
                try service.send(Data(count: 1_000_000), to: Lamp.blob)
                try await received.wait(for: count)
            }
            try await reasons.wait(for: 1)
            guard case .timedOut(let text) = try #require(reasons.all.first).kind else {
                Issue.record("ended by \(reasons.all)")
                return
            }
            #expect(text.contains("took nothing"))
            #expect(service.devices.map(\.name) == ["tester"])
            _ = try await good.ping()
            await good.close()
        }
    }

    /// So little that this system's buffer does not ask for more within the limit.
    @Test("a client that reads little, but reads, is not stuck")
    func slowClient() async throws {
        let change: (inout ServiceConfiguration) -> Void = {
            $0.limits.stuckTimeout = .seconds(4)
            $0.limits.maximumQueueByteCount = 40_000_000
        }
        try await withService(Lamp.all, change) { service, port in
            let slow = try RawSocket.connect(to: port, receiveBuffer: 65_536)
            _ = try await slow.readFrame()
            try slow.write([0xfe, 1, 0, 0, 0, 0x73])
            try await eventually { service.devices.count == 1 }
            for _ in 0..<25 { try service.send(Data(count: 1_000_000), to: Lamp.blob) }
            try await slow.readSlowly(5_000, times: 120, pause: 100)
            #expect(service.devices.count == 1)
        }
    }

    @Test
    func connectionsPerAddressAreLimited() async throws {
        try await withService(Lamp.all, { $0.maximumDeviceCountPerAddress = 2 }) { service, port in
            let first = try await connect(port)
            let second = try await connect(port)
            await #expect {
                _ = try await connect(port)
            } throws: {
                ($0 as? ElementalError)?.code == .refused && "\($0)".contains("2 connections from this address")
            }
            await first.close()
            try await eventually { service.devices.count == 1 }
            let third = try await connect(port)
            await third.close()
            await second.close()
        }
    }

    @Test
    func aSenderThatIsTooQuickHasToWaitAndLosesNothing() async throws {
        let clock = SuspendingClock()
        // The first second begins with the connection.
        let start = clock.now
        try await withPair(Lamp.all, { $0.limits.maximumMessagesPerSecond = 2000 }) { service, device in
            let received = Transcript<Float>()
            service.onValue(of: Lamp.brightness) { value, _ in received.add(value) }
            for index in 0..<5000 { try await device.sendWhenReady(Float(index) / 5000, to: Lamp.brightness) }
            try await received.wait(for: 5000)
            #expect(received.all == (0..<5000).map { Float($0) / 5000 })
            // All may lie in one read; then the next has to wait until the seconds that they filled are over.
            try await device.sendWhenReady(1, to: Lamp.brightness)
            try await received.wait(for: 5001)
            #expect(clock.now - start > .milliseconds(1900))
        }
    }

    @Test
    func aPeerWithAnotherProtocolIsDisconnected() async throws {
        try await withService(Lamp.all, { $0.limits.maximumUnknownCount = 1000 }) { service, port in
            let reasons = reasons(service)
            let hostile = try RawSocket.connect(to: port)
            let unknown: [UInt8] = [100, 1, 0, 0, 0, 7]
            let known: [UInt8] = [7, 1, 0, 0, 0, 42]
            try hostile.write([0xfe, 1, 0, 0, 0, 0x68] + known)
            for _ in 0..<3 {
                try hostile.write(Array(repeating: unknown, count: 900).flatMap { $0 } + known)
                try await eventually {
                    service.devices.first.map { $0.statistics.messagesUnknown.isMultiple(of: 900) } == true
                }
            }
            try await eventually { service.devices.first?.statistics.messagesUnknown == 2700 }
            #expect(reasons.all.isEmpty)
            // The service may close while they are written.
            for _ in 0..<3 { try? hostile.write(Array(repeating: unknown, count: 900).flatMap { $0 }) }
            try await reasons.wait(for: 1)
            guard case .protocolViolation(let text) = try #require(reasons.all.first).kind else {
                Issue.record("ended by \(reasons.all)")
                return
            }
            #expect(text.contains("not known"))
        }
    }

    @Test
    func aStreamOfTheNewestValueMakesNobodyWait() async throws {
        try await withPair { service, device in
            let other = try #require(service.devices.first)
            var values = other.values(of: Lamp.label, buffering: .newest(1)).makeAsyncIterator()
            // Far more than a waiting stream keeps.
            for index in 0..<5000 { try device.send("\(index)", to: Lamp.label) }
            try device.send(0.5, to: Lamp.brightness)
            try await eventually { other.value(of: Lamp.brightness) == 0.5 }
            #expect(await values.next() == "4999")
        }
    }
}
