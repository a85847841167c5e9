import TestSupport
import Testing

@testable import Elemental

/// Connections that last as long as the code that uses them.
struct ScopedConnectionTests {
    private struct Problem: Error {}

    private var options: ConnectOptions {
        var options = ConnectOptions.patientAtTheEnd
        options.expectsHello = true
        return options
    }

    @Test
    func theConnectionIsClosedBehindWhatWasSent() async throws {
        try await withService { service, port in
            let received = Transcript<String>()
            service.onValue(of: Lamp.label) { value, _ in received.add(value) }
            let device = try await ElementalDevice.withConnection(
                host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all, options: options
            ) { device in
                for number in 0..<1000 { try device.send("\(number)", to: Lamp.label) }
                return device
            }
            #expect(!device.isConnected)
            #expect(device.disconnectReason?.kind == .closedHere)
            try await received.wait(for: 1000)
            try await eventually { service.devices.isEmpty }
        }
    }

    @Test
    func theConnectionIsClosedWhenTheBodyThrows() async throws {
        try await withService { service, port in
            await #expect(throws: Problem.self) {
                try await ElementalDevice.withConnection(
                    host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all, options: options
                ) { _ in throw Problem() }
            }
            try await eventually { service.devices.isEmpty }
        }
    }

    @Test
    func theConnectionIsClosedWhenTheTaskIsCancelled() async throws {
        try await withService { service, port in
            let task = Task { [options] in
                try await ElementalDevice.withConnection(
                    host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all, options: options
                ) { device in
                    for await _ in device.values(of: Lamp.label) {}
                }
            }
            try await eventually { service.devices.count == 1 }
            task.cancel()
            try? await task.value
            try await eventually { service.devices.isEmpty }
        }
    }
}
