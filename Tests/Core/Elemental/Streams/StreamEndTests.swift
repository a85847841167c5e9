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
