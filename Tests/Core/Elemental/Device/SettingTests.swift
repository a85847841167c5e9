import ElementalWire
import Support
import TestSupport
import Testing
import WireVectors

@testable import Elemental

/// `set` waits until the service has handled the value.
struct SettingTests {
    @Test(arguments: ConnectionKind.allCases)
    func aValueWasHandledWhenSettingItReturns(over kind: ConnectionKind) async throws {
        try await withPair(over: kind) { service, device in
            let (labels, motions, lengths) = (Transcript<String>(), Transcript<Vector3>(), Transcript<Int>())
            service.onValue(of: Lamp.label) { labels.add($0) }
            service.onValue(of: Lamp.motion) { motions.add($0) }
            service.onValue(of: Lamp.blob) { lengths.add($0.count) }
            for label in ["on", ""] { try await device.set(label, to: Lamp.label, timeout: Patience.wait) }
            #expect(labels.all == ["on", ""])
            try await device.set([1, 2, 3], to: Lamp.motion, timeout: Patience.wait)
            #expect(motions.all.last == [1, 2, 3])
            // It goes in pieces, which a ping would overtake.
            try await device.set(Data(pattern: 3, from: 0, count: 1 << 20), to: Lamp.blob, timeout: Patience.wait)
            #expect(lengths.all == [1 << 20])
        }
    }

    @Test
    func aRefusalIsThrown() async throws {
        let brightness = Element<Float>(1, "Brightness")
        let reading = Element<Double>(6, "Reading")
        try await withPair(client: [brightness, reading, Lamp.label, Lamp.level]) { service, device in
            service.relay(Lamp.label) { _, _ in throw ValueRefusal("it is locked") }
            service.relay(Lamp.level) { _, _ async throws -> UInt32 in throw ValueRefusal("it is too late") }
            func refusal<Value>(_ value: Value, _ element: Element<Value>) async -> ElementalError? {
                await elementalError { try await device.set(value, to: element, timeout: Patience.wait) }
            }
            #expect(await refusal(2, brightness)?.code == .outOfRange)
            #expect(await refusal(20, reading)?.code == .notAllowed)
            let locked = await refusal("on", Lamp.label)
            #expect(locked?.code == .refused && locked?.message.hasSuffix(" refused 'Label': it is locked") == true)
            #expect(await refusal(7, Lamp.level)?.message.hasSuffix("it is too late") == true)
            #expect(await refusal(0.5, brightness) == nil)
            #expect(service.devices.first?.value(of: Lamp.brightness) == 0.5)
        }
    }

    @Test
    func whatThisEndKnowsToBeWrongIsNotSent() async throws {
        try await withPair { service, device in
            #expect(await errorCode { try await device.set(2, to: Lamp.brightness) } == .outOfRange)
            #expect(await errorCode { try await device.set(20, to: Lamp.reading) } == .notAllowed)
            #expect(await errorCode { try await device.set(.bool(true), to: Lamp.label.definition) } == .wrongType)
            try await device.ping()
            #expect(service.devices.first?.statistics.messagesRejected == 0)
        }
    }

    @Test
    func aValueThatIsNotDecidedTimesOutAndCanBeCancelled() async throws {
        try await withPair { service, device in
            let (decided, goesOn) = (Transcript<Float>(), Latch())
            service.relay(Lamp.brightness) { value, _ in
                decided.add(value)
                await goesOn.wait()
                return value
            }
            let late = await errorCode {
                try await device.set(0.5, to: Lamp.brightness, timeout: .milliseconds(20))
            }
            #expect(late == .timedOut)
            let setting = Task { try await device.set(0.6, to: Lamp.brightness, timeout: Patience.wait) }
            try await decided.wait(for: 1)
            setting.cancel()
            #expect(await errorCode { try await setting.value } == .cancelled)
            #expect(device.isConnected)
            let lost = Task { try await device.set(0.7, to: Lamp.brightness, timeout: Patience.wait) }
            await service.stop()
            #expect(await errorCode { try await lost.value } == .notConnected)
            goesOn.open()
        }
    }

    /// It answers no pings.
    @Test
    func aValueForAnOlderServiceIsOnlySent() async throws {
        let (listener, port) = try RawSocket.listen()
        async let connecting = ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "x", elements: Recorded.all, options: .patient)
        let server = try await listener.accept()
        try server.write(WireVectors.bytes(WireVectors.recorded.onAccept.serverSends))
        let device = try await connecting
        try await device.set(.bool(true), to: try #require(Recorded.all["bool"]), timeout: Patience.wait)
        #expect(try await server.readFrame().id == SystemElement.deviceName.rawValue)
        #expect(try await server.readFrame().id == SystemElement.hello.rawValue)
        #expect(try await server.readFrame().value == [1])
        device.disconnect()
    }
}
