import Elemental
import Foundation
import TestSupport
import Testing

/// Values that are sent in pieces.
struct LargeValueTests {
    /// Two large elements and a small one.
    private enum Files {
        static let first = Element<Data>(1, "First")
        static let second = Element<Data>(2, "Second")
        static let number = Element<UInt32>(3, "Number")
        static let newest = Element<Data>(4, "Newest", latest: true)
        static let all: ElementCatalogue = [first, second, number, newest]
    }

    /// What arrived: the element and the value's size.
    private struct Arrival: Equatable {
        let id: Int8
        let byteCount: Int
    }

    private func gather(_ service: ElementalService) -> Transcript<Arrival> {
        let arrivals = Transcript<Arrival>()
        service.onAnyValue { element, value, _ in arrivals.add(Arrival(id: element.id, byteCount: value.wireByteCount))
        }
        return arrivals
    }

    @Test("a value of 100 MB arrives unchanged, with progress at both ends", arguments: ConnectionKind.allCases)
    func hundredMegabytes(over kind: ConnectionKind) async throws {
        let value = Data(pattern: 7, from: 0, count: 100_000_000)
        try await withPair(Files.all, client: Files.all, over: kind) { service, device in
            let received = Transcript<Data>()
            service.onValue(of: Files.first) { value, _ in received.add(value) }
            let incoming = Transcript<TransferProgress>()
            let outgoing = Transcript<TransferProgress>()
            service.onProgress { progress, _ in incoming.add(progress) }
            device.onProgress { progress, _ in outgoing.add(progress) }
            try device.send(value, to: Files.first)
            try await device.waitUntilSent()
            try await received.wait(for: 1)
            #expect(received.all == [value])
            for (gathered, direction) in [(incoming, TransferProgress.Direction.incoming), (outgoing, .outgoing)] {
                let all = gathered.all
                #expect(all.allSatisfy { $0.direction == direction && $0.element.id == 1 })
                #expect(all.map(\.byteCount) == all.map(\.byteCount).sorted())
                #expect(all.last?.byteCount == value.count)
                #expect(all.last?.fraction == 1)
                #expect(all.count > 100)
            }
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func othersGoBetweenThePieces(over kind: ConnectionKind) async throws {
        try await withPair(Files.all, client: Files.all, over: kind) { service, device in
            let arrivals = gather(service)
            let other = try #require(service.devices.first)
            // While the other end does not read, the large values cannot be sent; later values still overtake them.
            other.pause()
            try device.send(Data(count: 40_000_000), to: Files.first)
            try device.send(7, to: Files.number)
            other.resume()
            try await arrivals.wait(for: 2)
            #expect(arrivals.all == [Arrival(id: 3, byteCount: 4), Arrival(id: 1, byteCount: 40_000_000)])
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func theValuesOfOneElementKeepTheirOrder(over kind: ConnectionKind) async throws {
        try await withPair(Files.all, client: Files.all, over: kind) { service, device in
            let arrivals = gather(service)
            let sizes = [3_000_000, 10, 200_000, 1, 20_000, 150_000]
            for size in sizes { try device.send(Data(count: size), to: Files.first) }
            for size in sizes { try device.send(Data(count: size), to: Files.second) }
            try await arrivals.wait(for: 2 * sizes.count)
            for id in [1, 2] as [Int8] { #expect(arrivals.all.filter { $0.id == id }.map(\.byteCount) == sizes) }
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func theNewestOfALatestElementArrives(over kind: ConnectionKind) async throws {
        try await withPair(Files.all, client: Files.all, over: kind) { service, device in
            let arrivals = gather(service)
            for size in 1...40 { try device.send(Data(count: size * 100_000), to: Files.newest) }
            try await eventually { arrivals.all.last?.byteCount == 4_000_000 }
            let sizes = arrivals.all.map(\.byteCount)
            #expect(sizes == sizes.sorted())
        }
    }

    @Test
    func newClientsGetLargeCurrentValues() async throws {
        let value = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 13) })
        try await withService(Files.all) { service, port in
            try service.send(value, to: Files.first)
            try service.send(9, to: Files.number)
            let device = try await connect(port, elements: Files.all)
            try await eventually { device.value(of: Files.first) == value && device.value(of: Files.number) == 9 }
            await device.close()
        }
    }

    @Test("a peer that has not announced pieces gets the value in one frame")
    func olderPeer() async throws {
        try await withService(Files.all) { service, port in
            let older = try RawSocket.connect(to: port)
            _ = try await older.readFrame()
            try older.write([0xfe, 1, 0, 0, 0, 0x6f])
            try await eventually { service.devices.count == 1 }
            try service.send(Data(repeating: 5, count: 300_000), to: Files.first)
            let frame = try await older.readFrame()
            #expect(frame.id == 1)
            #expect(frame.value == [UInt8](repeating: 5, count: 300_000))
        }
    }

    @Test
    func queuedValuesAreSentBeforeTheEnd() async throws {
        try await withService(Files.all, { $0.limits.closeTimeout = Patience.wait }) { service, port in
            let arrivals = gather(service)
            let closing = try await connect(port, elements: Files.all)
            for number in 1...3 { try closing.send(Data(count: 1_000_000 + number), to: Files.first) }
            await closing.close()
            try await arrivals.wait(for: 3)
            #expect(arrivals.all.map(\.byteCount) == [1_000_001, 1_000_002, 1_000_003])

            // The other direction, and the service's last message arrives.
            let listening = try await connect(port, elements: Files.all)
            let told = Transcript<Int>()
            listening.onValue(of: Files.second) { told.add($0.count) }
            try await eventually { service.devices.first?.hello != nil }
            for number in 1...3 { try service.send(Data(count: 1_000_000 + number), to: Files.second) }
            await service.stop(reason: "closing time")
            let reason = try await listening.waitUntilDisconnected()
            #expect(told.all == [1_000_001, 1_000_002, 1_000_003])
            #expect(reason.kind == .shutDown("closing time"))
        }
    }

    @Test
    func latestValuesAreSentBeforeTheEndToo() async throws {
        try await withService(Files.all, { $0.limits.closeTimeout = Patience.wait }) { service, port in
            let device = try await connect(port, elements: Files.all)
            let told = Transcript<Int>()
            device.onValue(of: Files.newest) { told.add($0.count) }
            let begun = Transcript<TransferProgress>()
            device.onProgress { progress, device in
                if begun.all.isEmpty { device.pause() }
                begun.add(progress)
            }
            try await eventually { service.devices.first?.hello != nil }
            // One is being sent, and the other waits for it.
            try service.send(Data(count: 20_000_001), to: Files.newest)
            try await begun.wait(for: 1)
            try service.send(Data(count: 20_000_002), to: Files.newest)
            async let stop: Void = service.stop(reason: "closing time")
            try await eventually { service.port == nil }
            device.resume()
            await stop
            let reason = try await device.waitUntilDisconnected()
            #expect(told.all == [20_000_001, 20_000_002])
            #expect(reason.kind == .shutDown("closing time"))
        }
    }

    @Test
    func largeValuesWaitForRoomOfTheirOwn() async throws {
        try await withPair(Files.all, client: Files.all) { service, device in
            let other = try #require(service.devices.first)
            other.pause()
            for _ in 0..<2 { try device.send(Data(count: 4_000_000), to: Files.first) }
            #expect(await errorCode { try device.send(Data(count: 4_000_000), to: Files.second) } == .queueFull)
            // A small value does not wait for them.
            try await device.sendWhenReady(1, to: Files.number)
            async let late: Void = device.sendWhenReady(Data(count: 4_000_000), to: Files.second)
            other.resume()
            try await late
            try await device.waitUntilSent()
            #expect(device.statistics.messagesUnsent == 0)
        }
    }

    @Test(
        "pieces that break the rules end the connection with a reason",
        arguments: [
            // An offset without a beginning; a piece without bytes; a system element's; too large a value.
            [4, 10, 0, 0, 0, 5, 0, 0, 0, 1], [4, 10, 0, 0, 0, 0, 0, 0, 0], [0xfd, 10, 0, 0, 0, 0, 0, 0, 0, 1],
            [4, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1],
        ] as [[UInt8]])
    func brokenPieces(_ piece: [UInt8]) async throws {
        try await withService { service, port in
            let reasons = service.gatherReasons()
            let hostile = try RawSocket.connect(to: port)
            try hostile.write([0xfe, 1, 0, 0, 0, 0x68, 0xfc, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            try hostile.write([0xf8, UInt8(piece.count), 0, 0, 0] + piece)
            try await reasons.wait(for: 1)
            #expect(reasons.all.map(\.code) == ["protocolViolation"])
        }
    }

    @Test
    func acknowledgingMoreThanWasSentIsMalformed() async throws {
        try await withService { service, port in
            let hostile = try RawSocket.connect(to: port)
            try hostile.write([0xfe, 1, 0, 0, 0, 0x68, 0xfc, 7, 0, 0, 0, 1, 16, 0, 0, 0, 0, 0])
            try hostile.write([0xf7, 4, 0, 0, 0, 1, 0, 0, 0])
            try await eventually { service.devices.first?.statistics.messagesMalformed == 1 }
        }
    }
}
