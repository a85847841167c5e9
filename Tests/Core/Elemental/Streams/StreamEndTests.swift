import TestSupport
import Testing

@testable import Elemental

/// Releasing a stream's resources when it or its device ends.
struct StreamEndTests {
    @Test
    func aStreamThatNobodyReadsHoldsNoEndedDevice() async throws {
        try await withPair { service, device in
            let unread = device.values(of: Lamp.label)
            let sender = try #require(service.devices.first)
            let text = String(repeating: "more", count: 1000)
            let sending = Task {
                while true { try await sender.sendWhenReady(text, to: Lamp.label) }
            }
            try await eventually { device.isPaused }
            await device.close()
            _ = await sending.result
            #expect(!device.isPaused)
            // Connected again, it reads.
            try await device.reconnect()
            try service.send("again", to: Lamp.label)
            try await eventually { device.value(of: Lamp.label) == "again" }
            _ = unread
        }
    }

    /// Such an iteration ends at once, without a notification.
    @Test
    func aStreamThatIsIteratedByACancelledTaskIsLetGo() async throws {
        try await withPair { service, device in
            let before = device.state.withLock { $0.endings.count }
            let values = device.values(of: Lamp.label)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                for await _ in values { Issue.record("there was none") }
            }
            await task.value
            try service.send("first", to: Lamp.label)
            try await eventually { device.state.withLock { $0.endings.count } == before }
        }
    }

    /// The service is a bare socket.
    @Test(arguments: [
        (frame(-3, Array("maintenance".utf8)), "shutDown"), ([], "closedByPeer"),
        ([2, 0xff, 0xff, 0xff, 0x7f], "protocolViolation"),
    ])
    func aStreamSaysWhyTheDeviceEnded(_ last: [UInt8], _ code: String) async throws {
        let (listener, peer, device) = try await Reconnecting.connectToOlderPeer(nil)
        let labels = device.values(of: Reconnecting.Rover.label)
        #expect(labels.ending == nil)
        try peer.write(frame(4, Array("last".utf8)) + last)
        peer.closeOutput()
        var received: [String] = []
        for await label in labels { received.append(label) }
        #expect(received == ["last"])
        let reason = try #require(labels.ending?.reason)
        #expect(reason.code == code)
        #expect(reason.kind == device.disconnectReason?.kind)
        // Of a device that has ended already.
        let late = device.values(of: Reconnecting.Rover.label)
        for await _ in late {}
        #expect(late.ending?.reason?.code == code)
        withExtendedLifetime(listener) {}
    }

    @Test
    func aStreamSaysThatItWasCancelled() async throws {
        try await withPair { service, device in
            let labels = device.values(of: Lamp.label)
            let task = Task { for await _ in labels {} }
            task.cancel()
            await task.value
            #expect(labels.ending?.isCancelled == true)
            #expect(device.disconnectReason == nil)

            let left = device.values(of: Lamp.label)
            try service.send("first", to: Lamp.label)
            for await _ in left { break }
            #expect(left.ending?.isCancelled == true)
        }
    }

    @Test(arguments: [StreamBuffering.waiting, .newest(1)])
    func streamsThatAreOverLeaveNothing(_ buffering: StreamBuffering) async throws {
        try await withPair { service, device in
            try service.send("first", to: Lamp.label)
            try await eventually { device.value(of: Lamp.label) == "first" }
            let before = device.state.withLock { $0.endings.count }
            for _ in 0..<20 {
                for await _ in device.values(of: Lamp.label, buffering: buffering) { break }
            }
            try await eventually { device.state.withLock { $0.endings.count } == before }
        }
    }
}

extension StreamEnding {
    var reason: DisconnectReason? { if case .disconnected(let reason) = self { reason } else { nil } }
    var isCancelled: Bool { if case .cancelled = self { true } else { false } }
}
