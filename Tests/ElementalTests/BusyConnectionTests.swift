import Dispatch
import TestSupport
import Testing

@testable import Elemental

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// Connections that carry more than they can at once.
struct BusyConnectionTests {
    /// With so small a queue every few datagrams fill it, and one flush empties it.
    @Test(.timeLimit(.minutes(1)))
    func aSenderThatWaitsForRoomForDatagramsGoesOn() async throws {
        try await withService(Lamp.all, { _ in }) { _, port in
            var options = ConnectOptions()
            options.expectsHello = true
            options.limits.readyQueueByteCount = 1024
            let device = try await ElementalDevice.connect(
                host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all, options: options)
            for number in 0..<20_000 {
                try await device.sendWhenReady([Float(number), 0, 0], to: Lamp.motion)
            }
            try await eventually { device.statistics.messagesUnsent == 0 }
            #expect(device.statistics.messagesSent == 20_000)
            await device.close()
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func aSenderThatWaitsForRoomInASmallQueueLosesNothing() async throws {
        try await withService(Lamp.all, { _ in }) { service, port in
            let received = Gathered<UInt64>()
            service.onValue(of: Lamp.count) { value, _ in received.add(value) }
            var options = ConnectOptions()
            options.expectsHello = true
            options.limits.maximumQueueByteCount = 32 * 1024
            let device = try await ElementalDevice.connect(
                host: "127.0.0.1", port: port, as: "tester", elements: Lamp.all, options: options)
            for number in 0..<UInt64(50_000) { try await device.sendWhenReady(number, to: Lamp.count) }
            try await received.wait(for: 50_000)
            #expect(received.all == Array(0..<50_000))
            await device.close()
        }
    }

    @Test
    func aHandlerAddedByAHandlerGetsTheValueOnce() async throws {
        try await withPair { service, device in
            let received = Gathered<Float>()
            let isAdded = Gathered<Bool>()
            service.onValue(of: Lamp.brightness) { _, device in
                guard isAdded.all.isEmpty else { return }
                isAdded.add(true)
                device.onValue(of: Lamp.brightness) { received.add($0) }
            }
            try device.send(0.25, to: Lamp.brightness)
            try device.send(0.5, to: Lamp.brightness)
            try await received.wait(for: 2)
            _ = try await device.ping()
            #expect(received.all == [0.25, 0.5])
        }
    }

    /// An event loop does what it is given only after it has read what it finds on its sockets.
    @Test
    func aHandlerMissesNothingThatIsSentAfterItWasAdded() async throws {
        let (listener, port) = try RawSocket.listen()
        let (isHeld, goOn) = (Gathered<Bool>(), DispatchSemaphore(value: 0))
        async let connecting = ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "x", elements: Lamp.all
        ) { device in
            device.onValue(of: Lamp.level) { _ in
                guard isHeld.all.isEmpty else { return }
                isHeld.add(true)
                goOn.wait()
            }
        }
        let server = try await listener.accept()
        try server.write([0xff, 1, 0, 0, 0, 0])
        let device = try await connecting
        // More than the loop's first read takes, and it stays with the first of it …
        let level = encodedFrame(Lamp.level.id, [1, 0, 0, 0])
        try server.write([[UInt8]](repeating: level, count: 120).flatMap { $0 })
        do {
            defer { goOn.signal() }
            try await isHeld.wait(for: 1)
            // … so that this is added, and is read, before the loop does anything else.
            let received = Gathered<String>()
            device.onValue(of: Lamp.label) { received.add($0) }
            try server.write(["a", "b", "c"].flatMap { encodedFrame(Lamp.label.id, Array($0.utf8)) })
            goOn.signal()
            try await received.wait(for: 3)
            #expect(received.all == ["a", "b", "c"])
        }
        await device.close()
    }

    /// A stream asks for more once: were that to come between its being full and the pause, the pause would stay.
    @Test
    func aStreamThatAsksForMoreWhileItIsFilledIsHeard() async throws {
        try await withPair { _, device in
            let delegate = StreamDelegate(device: device)
            let asked = DispatchSemaphore(value: 0)
            delegate.handOn {
                DispatchQueue(label: "consumer").async {
                    delegate.produceMore()
                    asked.signal()
                }
                // Time enough to ask, were it not for this turn's end that it waits for.
                _ = asked.wait(timeout: .now() + .milliseconds(100))
                return true
            }
            try await eventually { !device.isPaused }
        }
    }

    private func encodedFrame(_ id: Int8, _ value: [UInt8]) -> [UInt8] {
        [UInt8(bitPattern: id)] + withUnsafeBytes(of: UInt32(value.count).littleEndian) { Array($0) } + value
    }

    /// Long values come whole, in order, whether they lie in one read or in several, and can be kept.
    @Test
    func longValuesOfAnyLengthArriveWholeAmongShortOnes() async throws {
        let image = Element<Data>(9, "Image")
        let mark = Element<UInt64>(10, "Mark")
        let sizes = [16_383, 16_384, 65_531, 65_536, 200_000, 1 << 20, 3_000_000, 16_384]
        try await withPair([image, mark], client: [image, mark]) { service, device in
            let received = Gathered<Data>()
            let marks = Gathered<UInt64>()
            service.onValue(of: image) { value, _ in received.add(value) }
            service.onValue(of: mark) { value, _ in marks.add(value) }
            let sent = (0..<40).map { turn in
                Data((0..<sizes[turn % sizes.count]).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ turn) })
            }
            for (number, value) in sent.enumerated() {
                try await device.sendWhenReady(value, to: image)
                try await device.sendWhenReady(UInt64(number), to: mark)
            }
            // Each element keeps its own order; the marks may pass values that go in pieces.
            try await marks.wait(for: 40)
            try await received.wait(for: 40)
            #expect(received.all == sent)
            #expect(marks.all == Array(0..<40))
            #expect(service.devices.first?.value(of: image) == sent.last)
        }
    }
}
