import Dispatch
import NIOPosix
import TestSupport
import Testing

@testable import Elemental

/// Connections that carry more than they can at once.
struct BusyConnectionTests {
    /// With so small a queue every few datagrams fill it, and one flush empties it.
    @Test(.backstop)
    func aSenderThatWaitsForRoomForDatagramsGoesOn() async throws {
        try await withService(Lamp.all, { _ in }) { _, port in
            let device = try await connect(port, with: { $0.limits.readyQueueByteCount = 1024 })
            for number in 0..<20_000 {
                try await device.sendWhenReady([Float(number), 0, 0], to: Lamp.motion)
            }
            try await eventually { device.statistics.messagesUnsent == 0 }
            #expect(device.statistics.messagesSent == 20_000)
            await device.close()
        }
    }

    @Test(.backstop)
    func aSenderThatWaitsForRoomInASmallQueueLosesNothing() async throws {
        try await withService(Lamp.all, { _ in }) { service, port in
            let received = Transcript<String>()
            service.onValue(of: Lamp.label) { value, _ in received.add(value) }
            let device = try await connect(port, with: { $0.limits.maximumQueueByteCount = 32 * 1024 })
            for number in 0..<50_000 { try await device.sendWhenReady("\(number)", to: Lamp.label) }
            try await received.wait(for: 50_000)
            #expect(received.all == (0..<50_000).map { "\($0)" })
            await device.close()
        }
    }

    @Test
    func aHandlerAddedByAHandlerGetsTheValueOnce() async throws {
        try await withPair { service, device in
            let received = Transcript<Float>()
            let isAdded = Transcript<Bool>()
            service.onValue(of: Lamp.brightness) { _, device in
                guard isAdded.all.isEmpty else { return }
                isAdded.add(true)
                device.onValue(of: Lamp.brightness) { received.add($0) }
            }
            try device.send(0.25, to: Lamp.brightness)
            try device.send(0.5, to: Lamp.brightness)
            try await received.wait(for: 2)
            try await device.ping()
            #expect(received.all == [0.25, 0.5])
        }
    }

    /// An event loop does what it is given only after it has read what it finds on its sockets.
    @Test
    func aHandlerMissesNothingThatIsSentAfterItWasAdded() async throws {
        let (listener, port) = try RawSocket.listen()
        let (isHeld, goOn) = (Transcript<Bool>(), DispatchSemaphore(value: 0))
        // Its own loop, for it stands still for a while.
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var options = ConnectOptions.patient
        options.eventLoopGroup = group
        async let connecting = ElementalDevice.connect(
            host: "127.0.0.1", port: port, as: "x", elements: Lamp.all, options: options
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
        let level = frame(Lamp.level.id, [1, 0, 0, 0])
        try server.write([[UInt8]](repeating: level, count: 120).flatMap { $0 })
        do {
            defer { goOn.signal() }
            try await isHeld.wait(for: 1)
            // … so that this is added, and is read, before the loop does anything else.
            let received = Transcript<String>()
            device.onValue(of: Lamp.label) { received.add($0) }
            try server.write(["a", "b", "c"].flatMap { frame(Lamp.label.id, Array($0.utf8)) })
            goOn.signal()
            try await received.wait(for: 3)
            #expect(received.all == ["a", "b", "c"])
        }
        await device.close()
        try await group.shutdownGracefully()
    }

    /// A paused device receives no acknowledgements of pieces, which is what the consumer waits for.
    @Test(.backstop)
    func theConsumerOfAFullStreamMaySendLargeValues() async throws {
        try await withPair { service, device in
            let received = Transcript<Int>()
            service.onValue(of: Lamp.blob) { value, _ in received.add(value.count) }
            let sender = try #require(service.devices.first)
            let text = String(repeating: "more", count: 1000)
            let sending = Task {
                while true { try await sender.sendWhenReady(text, to: Lamp.label) }
            }
            var sent = 0
            for await _ in device.values(of: Lamp.label) {
                try await eventually { device.isPaused }
                for _ in 0..<10 { try await device.sendWhenReady(Data(count: 300_000), to: Lamp.blob) }
                try await device.waitUntilSent()
                sent += 10
                if sent == 50 { break }
            }
            try await received.wait(for: sent)
            #expect(received.all == Array(repeating: 300_000, count: sent))
            sending.cancel()
            _ = await sending.result
        }
    }

    @Test(.backstop)
    func aSmallValueBehindALargeOneWaitsForItsRoom() async throws {
        try await withPair { service, device in
            let received = Transcript<Int>()
            service.onValue(of: Lamp.blob) { value, _ in received.add(value.count) }
            let other = try #require(service.devices.first)
            other.pause()
            try device.send(Data(count: 9_000_000), to: Lamp.blob)
            async let small: Void = device.sendWhenReady(Data(count: 100), to: Lamp.blob)
            // It waits to be woken instead of polling.
            try await eventually { device.outbound.withLock { $0.waiters.count } == 1 }
            other.resume()
            try await small
            try await received.wait(for: 2)
            #expect(received.all == [9_000_000, 100])
        }
    }

    @Test
    func longValuesOfAnyLengthArriveWholeAmongShortOnes() async throws {
        let image = Element<Data>(9, "Image")
        let mark = Element<UInt64>(10, "Mark")
        let sizes = [16_383, 16_384, 65_531, 65_536, 200_000, 1 << 20, 3_000_000, 16_384]
        try await withPair([image, mark], client: [image, mark]) { service, device in
            let received = Transcript<Data>()
            let marks = Transcript<UInt64>()
            service.onValue(of: image) { value, _ in received.add(value) }
            service.onValue(of: mark) { value, _ in marks.add(value) }
            let sent = (0..<40).map { turn in
                Data(pattern: 31, from: turn, count: sizes[turn % sizes.count])
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
