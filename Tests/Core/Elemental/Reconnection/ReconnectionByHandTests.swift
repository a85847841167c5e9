import Elemental
import TestSupport
import Testing

/// Connections that the program closes and restores itself.
@Suite(.backstop)
struct ReconnectionByHandTests {
    private typealias Rover = Reconnecting.Rover

    @Test
    func aDeviceThatIsClosedWhileItWaitsEndsAtOnce() async throws {
        try await Reconnecting.withPair(Reconnecting.late) { service, _, device in
            await service.stop()
            try await eventually { device.isReconnecting }
            try device.send(3, to: Rover.level)
            await device.close()
            #expect(device.disconnectReason?.kind == .closedHere)
            #expect(!device.isReconnecting)
            #expect(device.statistics.messagesUnsent == 1)
            #expect(throws: ElementalError.self) { try device.send(3, to: Rover.level) }
        }
    }

    @Test
    func aDeviceThatIsClosedDuringAnAttemptEndsAtOnce() async throws {
        let (listener, peer, device) = try await Reconnecting.connectToOlderPeer()
        peer.closeOutput()
        // The attempt gets a connection, but no handshake.
        let silent = try await listener.accept()
        #expect(try await silent.readFrame().id == -2)
        await device.close()
        #expect(device.disconnectReason?.kind == .closedHere)
        #expect(try await silent.readToEnd().isEmpty == false)
    }

    @Test
    func aClosedDeviceCanBeConnectedAgain() async throws {
        try await Reconnecting.withPair(nil) { service, _, device in
            let numbers = Transcript<UInt64>()
            device.onValue(of: Rover.number) { numbers.add($0) }
            let told = Transcript<DeviceEvent>()
            device.onEvent { event in told.add(event) }
            for round in UInt64(1)...3 {
                try await eventually { service.devices.count == 1 }
                try service.send(round, to: Rover.number)
                try await eventually { numbers.all.last == round }
                await device.close()
                #expect(device.disconnectReason?.kind == .closedHere)
                try await device.reconnect()
                #expect(device.isConnected)
                #expect(device.disconnectReason == nil)
            }
            // A connected device is unchanged.
            try await device.reconnect()
            let ending = Task { try await device.waitUntilDisconnected() }
            await device.close()
            #expect(try await ending.value.kind == .closedHere)
            // A new connection gets the current values, so each arrives once more.
            #expect(numbers.all == [1, 1, 2, 2, 3, 3])
            // The waiting task may be ahead of the last event's handler.
            try await told.wait(for: 7)
            #expect(
                Reconnecting.words(told.all) == ["over: closed here", "did", "over: closed here", "did"]
                    + ["over: closed here", "did", "over: closed here"])
        }
    }

    @Test
    func aDeviceThatCannotBeConnectedAgainStaysAsItWas() async throws {
        try await Reconnecting.withPair(nil) { service, port, device in
            await service.stop(reason: "off")
            _ = try await device.waitUntilDisconnected()
            #expect(await errorCode { try await device.reconnect() } == .connectionFailed)
            #expect(device.disconnectReason?.kind == .shutDown("off"))
            let second = try await Reconnecting.service(at: port)
            try await device.reconnect()
            #expect(device.isConnected)
            await second.stop()
        }
    }

    @Test
    func aWaitingDeviceIsConnectedAtOnceWhenTheProgramAsksForIt() async throws {
        try await Reconnecting.withPair(Reconnecting.late) { service, port, device in
            await service.stop()
            try await eventually { device.isReconnecting }
            let second = try await Reconnecting.service(at: port)
            try await device.reconnect()
            #expect(device.isConnected)
            await second.stop()
        }
    }

    @Test
    func aCancelledWaitForAReconnectionLeavesItAlone() async throws {
        try await Reconnecting.withPair(ListedDelays([.zero, .seconds(3600)])) { service, _, device in
            await service.stop()
            try await eventually { device.isReconnecting }
            let waiting = Task { try await device.reconnect() }
            waiting.cancel()
            #expect(await errorCode { try await waiting.value } == .cancelled)
            #expect(device.isReconnecting)
        }
    }

    @Test
    func aCancelledManualConnectionIsClosed() async throws {
        let (listener, peer, device) = try await Reconnecting.connectToOlderPeer(nil)
        await device.close()
        withExtendedLifetime(peer) {}
        let again = Task { try await device.reconnect() }
        let silent = try await listener.accept()
        again.cancel()
        #expect(await errorCode { try await again.value } == .cancelled)
        _ = try await silent.readToEnd()
        #expect(device.disconnectReason?.kind == .closedHere)
    }

    @Test
    func aDeviceThatIsOverIsLetGo() async throws {
        weak var observed: ElementalDevice?
        try await Reconnecting.withPair(Reconnecting.soon) { service, port, _ in
            let device = try await Reconnecting.connect(service, ListedDelays([.zero]))
            observed = device
            device.onEvent { _ in }
            await service.stop()
            _ = try await device.waitUntilDisconnected()
        }
        try await eventually { observed == nil }
    }
}
