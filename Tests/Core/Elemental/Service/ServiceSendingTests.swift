import ElementalWire
import Foundation
import TestSupport
import Testing

@testable import Elemental

/// A service that sends to all its devices no faster than the slowest.
struct ServiceSendingTests {
    private static let limit = 32 * 1024
    private static let text = String(repeating: "more", count: 1000)

    /// Runs `body` with a service, a client that reads, one that can be paused, and the service's device of the latter.
    private func withDevices(
        _ body: (
            ElementalService, _ reader: ElementalDevice, _ slow: ElementalDevice, _ other: ElementalDevice
        ) async throws -> Void
    ) async throws {
        try await withService(Lamp.all, { $0.limits.readyQueueByteCount = Self.limit }) { service, port in
            let reader = try await connect(port, as: "reader")
            let slow = try await connect(port, as: "slow")
            try await eventually { service.devices.count == 2 }
            let other = try #require(service.devices.first { $0.name == "slow" })
            try await body(service, reader, slow, other)
            await reader.close()
            await slow.close()
        }
    }

    private func expectNone(_ failures: [SendFailure]) { #expect(failures.isEmpty) }

    /// Sends until the system's buffers are full, and then the queue of a device that does not read.
    private func fill(_ device: ElementalDevice, of service: ElementalService) async throws {
        try await eventually {
            for _ in 0..<250 { try service.send(Self.text, to: Lamp.label) }
            return device.outbound.withLock { $0.stream.flush == .blocked && $0.stream.byteCount >= Self.limit }
        }
    }

    @Test(.backstop)
    func itWaitsForTheSlowestAndLosesNothing() async throws {
        try await withDevices { service, reader, slow, other in
            let (first, second) = (Transcript<String>(), Transcript<String>())
            reader.onValue(of: Lamp.label) { first.add($0) }
            slow.onValue(of: Lamp.label) { second.add($0) }
            slow.pause()
            let sent = Transcript<Int>()
            let sending = Task {
                for number in 0..<3000 {
                    expectNone(try await service.sendWhenReady("\(number) \(Self.text)", to: Lamp.label))
                    sent.add(number)
                }
            }
            // The system's buffers take some, and then it waits for this one, with a queue of a bounded length.
            defer { sending.cancel() }
            try await eventually { other.outbound.withLock { $0.waiters.count } == 1 }
            #expect(sent.all.count < 3000)
            #expect(other.outbound.withLock { $0.stream.byteCount } < Self.limit + 2 * Self.text.utf8.count)
            slow.resume()
            try await sending.value
            for received in [first, second] {
                try await received.wait(for: 3000)
                #expect(received.all.map { $0.prefix { $0 != " " } } == (0..<3000).map { "\($0)" })
            }
        }
    }

    /// The high watermark is all of such a queue.
    @Test(.backstop)
    func aQueueNoLargerThanItsHighWatermarkRefusesNothing() async throws {
        try await withService(Lamp.all, { $0.limits.maximumQueueByteCount = Self.limit }) { service, port in
            let reader = try await connect(port)
            let received = Transcript<String>()
            reader.onValue(of: Lamp.label) { received.add($0) }
            try await eventually { !service.devices.isEmpty }
            for number in 0..<20_000 {
                expectNone(try await service.sendWhenReady("\(number) \(Self.text)", to: Lamp.label))
            }
            try await received.wait(for: 20_000)
            await reader.close()
        }
    }

    @Test(.backstop)
    func whoDisconnectsIsNoLongerWaitedFor() async throws {
        try await withDevices { service, reader, slow, other in
            slow.pause()
            let sending = Task {
                while true { try await service.sendWhenReady(Self.text, to: Lamp.label) }
            }
            defer { sending.cancel() }
            try await eventually { other.outbound.withLock { $0.waiters.count } == 1 }
            let received = Transcript<String>()
            reader.onValue(of: Lamp.label) { received.add($0) }
            let count = received.all.count
            await slow.close()
            try await received.wait(for: count + 100)
            sending.cancel()
            await #expect(throws: ElementalError.self) { try await sending.value }
        }
    }

    @Test(.backstop)
    func aCancelledSenderIsToldSo() async throws {
        try await withDevices { service, _, slow, other in
            slow.pause()
            let sending = Task {
                while true { try await service.sendWhenReady(Self.text, to: Lamp.label) }
            }
            defer { sending.cancel() }
            try await eventually { other.outbound.withLock { $0.waiters.count } == 1 }
            sending.cancel()
            #expect(await errorCode { try await sending.value } == .cancelled)
            slow.resume()
        }
    }

    /// Whose flag says congested, but whose queue has room for the value, is not waited for, least of all in a loop that
    /// keeps a thread busy.
    @Test(.backstop)
    func aLargeValueDoesNotWaitForSmallOnes() async throws {
        try await withDevices { service, _, slow, other in
            slow.pause()
            try await fill(other, of: service)
            expectNone(try await service.sendWhenReady(Data(count: 200_000), to: Lamp.blob))
            // The next one waits for it.
            let sending = Task { try await service.sendWhenReady(Data(count: 200_000), to: Lamp.blob) }
            defer { sending.cancel() }
            try await eventually { other.outbound.withLock { $0.waiters.count } == 1 }
            slow.resume()
            expectNone(try await sending.value)
        }
    }

    @Test(.backstop)
    func aSmallValueWaitsForItsElementsLargeOne() async throws {
        try await withDevices { service, _, slow, other in
            slow.pause()
            let sending = Task {
                for _ in 0..<20 { try await service.sendWhenReady(Data(count: 1_000_000), to: Lamp.blob) }
                return try await service.sendWhenReady(Data(count: 1), to: Lamp.blob)
            }
            defer { sending.cancel() }
            try await eventually { other.outbound.withLock { $0.waiters.count } == 1 }
            slow.resume()
            expectNone(try await sending.value)
            slow.pause()
            // One that exceeds the limit waits until nothing else is queued.
            expectNone(try await service.sendWhenReady(Data(count: 200_000), to: Lamp.blob))
            let large = Task { try await service.sendWhenReady(Data(count: 9_000_000), to: Lamp.blob) }
            defer { large.cancel() }
            slow.resume()
            expectNone(try await large.value)
        }
    }

    @Test(.backstop)
    func whoIsAboutToBeDisconnectedIsNotWaitedFor() async throws {
        try await withDevices { service, reader, slow, other in
            slow.pause()
            try await fill(other, of: service)
            let closing = Task { await other.close() }
            try await eventually { other.outbound.withLock { $0.isEnding } }
            // The one that reads may still have to catch up.
            try await eventually { service.shared.congestedDevice(for: 0, of: nil) == nil }
            // It still has what it did not read.
            #expect(service.devices.contains { $0 === other })
            try await service.waitForRoom()
            await closing.value
        }
    }

    @Test
    func withoutDevicesItOnlyEndsWithItsTask() async throws {
        try await withService(Lamp.all, { _ in }) { service, _ in
            expectNone(try await service.sendWhenReady("alone", to: Lamp.label))
            let sending = Task {
                while true { try await service.sendWhenReady("alone", to: Lamp.label) }
            }
            sending.cancel()
            #expect(await errorCode { try await sending.value } == .cancelled)
        }
    }
}
