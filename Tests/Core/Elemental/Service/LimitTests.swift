import Foundation
import TestSupport
import Testing

@testable import Elemental

/// Limits for peers, and what happens to those that exceed them.
struct LimitTests {
    @Test
    func aClientThatNeverReadsIsDisconnectedInTime() async throws {
        try await withService(Lamp.all, { $0.limits.stuckTimeout = .milliseconds(50) }) { service, port in
            let reasons = service.gatherReasons()
            let stuck = try RawSocket.connect(to: port)
            try stuck.write([0xfe, 1, 0, 0, 0, 0x73])
            try await eventually { service.devices.count == 1 }
            try await eventually {
                // In total more than the system's buffers hold.
                try service.send(Data(count: 1_000_000), to: Lamp.blob)
                return reasons.count > 0
            }
            let reason = try #require(reasons.all.first)
            #expect(reason.code == "timedOut" && "\(reason)".contains("accepted no data"), "\(reason)")
            withExtendedLifetime(stuck) {}
        }
    }

    @Test
    func othersAreServedWhileAClientDoesNotRead() async throws {
        try await withService { service, port in
            let stuck = try RawSocket.connect(to: port)
            try stuck.write([0xfe, 1, 0, 0, 0, 0x73])
            let good = try await connect(port)
            let received = Transcript<Int>()
            good.onValue(of: Lamp.blob) { received.add($0.count) }
            try await eventually { service.devices.count == 2 }
            var failures: Set<String> = []
            for count in 1...40 {
                for failure in try service.send(Data(count: 1_000_000), to: Lamp.blob) {
                    failures.insert("\(failure.device.name): \(failure.error.code)")
                }
                try await received.wait(for: count)
            }
            #expect(failures == ["s: queueFull"])
            try await good.ping()
            await good.close()
            withExtendedLifetime(stuck) {}
        }
    }

    /// Acknowledged bytes count. This system's buffer asks for more only when a third of it is free.
    @Test
    func whatAClientReadsIsProgressBeforeMoreIsWritten() async throws {
        try await withService(Lamp.all, { $0.limits.maximumQueueByteCount = 40_000_000 }) { service, port in
            let slow = try RawSocket.connect(to: port, receiveBuffer: 65_536)
            _ = try await slow.readFrame()
            try slow.write([0xfe, 1, 0, 0, 0, 0x73])
            try await eventually { service.devices.count == 1 }
            let device = try #require(service.devices.first)
            let channel = try #require(device.outbound.withLock { $0.link }).channel
            func counts() async throws -> (written: Int, acknowledged: Int) {
                try await device.eventLoop.submit {
                    let sender = try channel.pipeline.syncOperations.handler(type: Session.self).sender
                    return (sender.writtenByteCount, sender.acknowledgedByteCount)
                }.get()
            }
            for _ in 0..<25 { try service.send(Data(count: 1_000_000), to: Lamp.blob) }
            var before = try await counts()
            try await eventually("progress, of \(before)") {
                _ = try await slow.read(5000)
                let now = try await counts()
                defer { before = now }
                return now.written == before.written && now.acknowledged > before.acknowledged
            }
        }
    }

    @Test
    func connectionsPerAddressAreLimited() async throws {
        try await withService(Lamp.all, { $0.maximumDeviceCountPerAddress = 2 }) { service, port in
            let first = try await connect(port)
            let second = try await connect(port)
            let error = await elementalError { try await connect(port) }
            #expect(error?.code == .unauthenticated)
            #expect(error?.message.contains("2 connections from this address") == true)
            await first.close()
            try await eventually { service.devices.count == 1 }
            let third = try await connect(port)
            await third.close()
            await second.close()
        }
    }

    @Test
    func aSenderThatIsTooQuickHasToWaitAndLosesNothing() async throws {
        try await withPair(Lamp.all, { $0.limits.maximumMessagesPerSecond = 2000 }) { service, device in
            let received = Transcript<Float>()
            service.onValue(of: Lamp.brightness) { value, _ in received.add(value) }
            for index in 0..<5000 { try await device.sendWhenReady(Float(index) / 5000, to: Lamp.brightness) }
            try await received.wait(for: 5000)
            #expect(received.all == (0..<5000).map { Float($0) / 5000 })
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
