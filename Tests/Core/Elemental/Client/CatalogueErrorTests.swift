import Elemental
import TestSupport
import Testing

/// A service with an invalid catalogue.
struct CatalogueErrorTests {
    /// Serves one client: identifier, hello, and a catalogue with a step that is not a number.
    private func withService(_ body: (_ port: Int) async throws -> Void) async throws {
        let (listener, port) = try RawSocket.listen()
        let serving = Task {
            let socket = try await listener.accept()
            let step = withUnsafeBytes(of: Double.nan.bitPattern.littleEndian) { Array($0) }
            let entry: [UInt8] = [1, ElementType.float.rawValue, 0b101100, 1, 0x41, 0] + step
            try socket.write(
                frame(-1, [0]) + frame(-4, [1, 0b111, 0, 0, 0, 0, 0])
                    + frame(-5, [1, 1, UInt8(entry.count), 0] + entry))
            _ = try? await socket.readToEnd()
        }
        try await body(port)
        serving.cancel()
    }

    /// The timeout is longer than the test may take, so that nothing may wait for it.
    private func options(expectsHello: Bool) -> ConnectOptions {
        var options = ConnectOptions()
        options.expectsHello = expectsHello
        options.timeout = Patience.wait * 10
        return options
    }

    @Test
    func connectingToLearnTheElementsFailsAtOnce() async throws {
        try await withService { port in
            let error = await #expect(throws: ElementalError.self) {
                try await ElementalDevice.connect(
                    host: "127.0.0.1", port: port, as: "tester", options: options(expectsHello: true))
            }
            #expect(error?.code == .invalidCatalogue)
            #expect(error?.message.contains("'A'") == true && error?.message.contains("step") == true)
        }
    }

    @Test
    func waitingForTheElementsFailsAtOnce() async throws {
        try await withService { port in
            let device = try await ElementalDevice.connect(
                host: "127.0.0.1", port: port, as: "tester", options: options(expectsHello: false))
            #expect(await errorCode { try await device.catalogue(timeout: Patience.wait * 10) } == .invalidCatalogue)
            #expect(device.catalogue == nil)
            #expect(device.isConnected)
            await device.close()
        }
    }

    @Test
    func aProgramWithElementsOfItsOwnGoesOn() async throws {
        try await withService { port in
            let device = try await ElementalDevice.connect(
                host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all,
                options: options(expectsHello: true))
            #expect(device.isConnected)
            try await eventually { device.statistics.messagesMalformed == 1 }
            try device.send(0.5, to: Lamp.brightness)
            await device.close()
        }
    }
}
