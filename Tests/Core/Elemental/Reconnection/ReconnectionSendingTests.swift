import Elemental
import TestSupport
import Testing

/// Values that are sent while a device is reconnecting.
@Suite(.backstop)
struct ReconnectionSendingTests {
    private typealias Rover = Reconnecting.Rover

    @Test
    func sendingWhileReconnectingThrowsExceptForLatestElements() async throws {
        try await Reconnecting.withPair(Reconnecting.soon) { service, port, device in
            await service.stop()
            try await eventually { device.isReconnecting }
            let error = #expect(throws: ElementalError.self) { try device.send(1, to: Rover.number) }
            #expect(error?.code == .notConnected)
            #expect(error?.message.contains("the device reconnects") == true)
            let late = await elementalError { try await device.sendWhenReady(Data(count: 100_000), to: Rover.picture) }
            #expect(late?.code == .notConnected)
            for value in UInt32(1)...5 { try device.send(value, to: Rover.level) }
            try await device.sendWhenReady(6, to: Rover.level)
            try device.send([1, 1, 1], to: Rover.aim)
            try device.send([2, 2, 2], to: Rover.aim)
            #expect(device.statistics.messagesUnsent == 2)
            #expect(device.statistics.messagesReplaced == 6)

            let levels = Transcript<UInt32>()
            let aims = Transcript<Vector3>()
            let second = try await Reconnecting.service(
                at: port,
                handlers: { service in
                    service.onValue(of: Rover.level) { value, _ in levels.add(value) }
                    service.onValue(of: Rover.aim) { value, _ in aims.add(value) }
                })
            try await levels.wait(for: 1)
            try await aims.wait(for: 1)
            // A round trip later nothing more has come.
            try await device.ping()
            #expect(levels.all == [6])
            #expect(aims.all == [[2, 2, 2]])
            #expect(device.statistics.messagesUnsent == 0)
            #expect(device.statistics.messagesSent == 8)
            await second.stop()
        }
    }

    @Test
    func aClientWithoutUDPKeepsNoDatagramValues() async throws {
        try await Reconnecting.withPair(Reconnecting.soon, elements: Rover.all, { $0.allowsUDP = false }) {
            service, _, device in
            await service.stop()
            try await eventually { device.isReconnecting }
            #expect(await errorCode { try device.send([1, 1, 1], to: Rover.aim) } == .udpUnavailable)
            try device.send(1, to: Rover.level)
            await device.close()
            #expect(device.statistics.messagesUnsent == 1)
        }
    }

    @Test
    func whatIsUnsentAtTheLossIsCountedAsLostExceptLatestValues() async throws {
        // A peer that reads nothing until it is gone: what the system does not take stays in the queue.
        let (listener, peer, device) = try await Reconnecting.connectToOlderPeer()
        // An older peer's frames of name and hello.
        _ = try await (peer.readFrame(), peer.readFrame())
        var sent = 0
        do {
            while true {
                try device.send(Data(repeating: 7, count: 1 << 20), to: Rover.picture)
                sent += 1
            }
        } catch {
            #expect(error.code == .queueFull)
        }
        try device.send(41, to: Rover.level)
        try device.send(42, to: Rover.level)
        peer.closeOutput()
        try await eventually { device.isReconnecting }
        let again = try await listener.accept()
        try again.write([0xff, 1, 0, 0, 0, 0])
        #expect(try await again.readFrame().id == -2)
        #expect(try await again.readFrame().id == -4)
        let frame = try await again.readFrame()
        #expect(frame.id == 2)
        #expect(frame.value == [42, 0, 0, 0])
        let lost = device.statistics.messagesUnsent
        #expect(lost > 0 && lost <= sent)
        try device.send(9, to: Rover.number)
        #expect(try await again.readFrame().value == [9, 0, 0, 0, 0, 0, 0, 0])
        #expect(device.statistics.messagesUnsent == lost)
        await device.close()
    }

    @Test("numbers sent across reconnections arrive in order, none twice")
    func nothingIsSentTwice() async throws {
        let received = Transcript<UInt64>()
        try await Reconnecting.withPair(Reconnecting.soon) { service, port, device in
            service.onValue(of: Rover.number) { value, _ in received.add(value) }
            var current = service
            var number: UInt64 = 0
            for _ in 0..<5 {
                let goal = received.all.count + 200
                let stop = number + 100_000
                while received.all.count < goal, number < stop {
                    number += 1
                    try device.send(number, to: Rover.number)
                    if number.isMultiple(of: 50) { try await device.ping() }
                }
                await current.stop(reason: "for a moment")
                try await eventually { device.isReconnecting }
                #expect(throws: ElementalError.self) { try device.send(0, to: Rover.number) }
                current = try await Reconnecting.service(
                    at: port, handlers: { $0.onValue(of: Rover.number) { value, _ in received.add(value) } })
                try await eventually { device.isConnected }
            }
            await current.stop()
        }
        let all = received.all
        #expect(all.count >= 1000)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
    }
}
