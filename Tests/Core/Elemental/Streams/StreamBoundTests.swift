import TestSupport
import Testing

@testable import Elemental

/// What a stream holds whose consumer has stalled.
struct StreamBoundTests {
    private static let picture = Element<Data>(1, "Picture", transport: .udp)
    private static let film = Element<Data>(2, "Film")

    private func withStalledClient(
        over kind: ConnectionKind, _ change: @escaping (inout DeviceLimits) -> Void,
        _ body: (_ sender: ElementalDevice, _ device: ElementalDevice) async throws -> Void
    ) async throws {
        let elements: ElementCatalogue = [Self.picture, Self.film]
        try await withService(elements, over: kind) { service, port in
            let device = try await connect(port, elements: elements, over: kind, with: { change(&$0.limits) })
            try await eventually { service.devices.count == 1 }
            try await body(try #require(service.devices.first), device)
            await device.close()
        }
    }

    /// Sends numbered values in datagrams, each when the one before has arrived.
    private func sendPictures(_ count: Int, from sender: ElementalDevice, to device: ElementalDevice) async throws {
        for number in 0..<count {
            let picture = Data(repeating: UInt8(number), count: 10_000)
            try sender.send(picture, to: Self.picture)
            try await eventually { device.value(of: Self.picture) == picture }
        }
    }

    /// The first byte of each value that waits in the stream.
    private func waiting(_ count: Int, in values: ElementValues<Data>) async -> [UInt8?] {
        var iterator = values.makeAsyncIterator()
        var all: [UInt8?] = []
        while all.count < count, let value = await iterator.next() { all.append(value.first) }
        return all
    }

    @Test(arguments: ConnectionKind.allCases, [(8, 1_000_000), (1000, 85_000)])
    func ofDatagramsTheNewestAreKeptAndTheOthersCounted(
        over kind: ConnectionKind, _ limit: (count: Int, byteCount: Int)
    ) async throws {
        try await withStalledClient(over: kind) {
            ($0.streamBufferCount, $0.streamBufferByteCount) = limit
        } _: { sender, device in
            let values = device.values(of: Self.picture)
            let all = device.values()
            try await sendPictures(30, from: sender, to: device)
            #expect(!device.isPaused)
            try await eventually { device.statistics.messagesOverrun == 2 * 22 }
            #expect(await waiting(8, in: values) == (22..<30).map { $0 })
            withExtendedLifetime(all) {}
        }
    }

    @Test(arguments: ConnectionKind.allCases)
    func ofTheStreamNoMoreIsReadThanTheBoundInBytes(over kind: ConnectionKind) async throws {
        try await withStalledClient(over: kind) {
            ($0.streamBufferCount, $0.streamBufferByteCount) = (10_000, 50_000)
        } _: { sender, device in
            let values = device.values(of: Self.film)
            let sending = Task {
                for number in 0..<1000 {
                    try await sender.sendWhenReady(Data(repeating: UInt8(number % 200), count: 10_000), to: Self.film)
                }
            }
            try await eventually { device.isPaused }
            // Datagrams go on arriving.
            try await sendPictures(3, from: sender, to: device)
            #expect(device.statistics.messagesReceived < 500)
            #expect(await waiting(1000, in: values) == (0..<1000).map { UInt8($0 % 200) })
            try await sending.value
            #expect(device.statistics.messagesOverrun == 0)
        }
    }

    /// A client sends values of an element of the stream in datagrams, which no pause holds back.
    @Test
    func whoSendsElsewhereThanAgreedFillsNothing() async throws {
        try await withService([Self.film], { $0.limits.streamBufferCount = 8 }) { service, port in
            let hostile = try RawSocket.connect(to: port)
            let identifier = try #require(try await hostile.readFrame().value.first)
            try hostile.write([0xfe, 1, 0, 0, 0, 0x68])
            try await eventually { service.devices.count == 1 }
            let device = try #require(service.devices.first)
            let values = device.values(of: Self.film)
            let socket = try RawSocket.datagram()
            for number in UInt8(0)..<30 {
                try socket.send(datagram: [2, 1, 0, 0, 0, identifier, number], to: port)
                try await eventually { device.value(of: Self.film) == Data([number]) }
            }
            #expect(device.statistics.messagesOverrun == 22)
            #expect(!device.isPaused)
            #expect(await waiting(8, in: values) == (22..<30).map { $0 })
        }
    }
}
