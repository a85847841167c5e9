import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

@testable import Elemental

/// Several clients that ask for values of the past at the same time.
extension HistoryTests {
    @Test("clients take turns: each gets one answer, and four get one before the loop serves its sockets")
    func turns() throws {
        let service = EmbeddedService(elements: Weather.all)
        for number in 1...10_000 as ClosedRange<UInt64> { _ = try service.service.send(number, to: Weather.count) }
        let peers = try (0..<6).map { _ in try service.connect() }
        for peer in peers { hello(peer) }
        for peer in peers { _ = try peer.heard() }
        func answerCounts() throws -> [Int] { try peers.map { try Self.answers(try $0.heard()).count } }
        // The first one asks for much before the others do.
        for peer in peers { peer.say((0..<peers.count).flatMap { Self.request(UInt64($0)) }) }
        service.loop.run()
        #expect(try answerCounts() == [1, 1, 1, 1, 0, 0])
        for counts in [[1, 1, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]] {
            service.loop.advanceTime(by: HistoryTurns.pause)
            #expect(try answerCounts() == counts)
        }
        service.wait(1)
        #expect(try answerCounts() == [3, 3, 3, 3, 4, 4])
    }

    @Test("a request whose turn comes while the queue is full is answered when there is room")
    func fullQueue() throws {
        let service = EmbeddedService(elements: Weather.all) { $0.limits.maximumQueueByteCount = 100_000 }
        _ = try service.service.send(1, to: Weather.count)
        let peer = try service.connect()
        hello(peer)
        _ = try peer.heard()
        peer.say(Self.request(0))
        // Before the loop runs: long values until none fits, and then short ones, so that no answer fits either.
        while try service.service.send(Data(count: 20_000), to: Weather.picture).isEmpty {}
        while try service.service.send(2, to: Weather.plain).isEmpty {}
        service.wait(1)
        #expect(try Self.answers(try peer.heard()).count == 1)
    }

    @Test("clients that read no answer keep nobody from a turn, and get all of theirs when they read", .backstop)
    func readers() async throws {
        try await withService(Weather.all) { service, port in
            for _ in 0..<200 { _ = try service.send(Data(count: 60_000), to: Weather.picture) }
            for number in 1...10_000 as ClosedRange<UInt64> { _ = try service.send(number, to: Weather.count) }
            let requestCount = Session.maximumHistoryRequestCount
            let silent = try (0...HistoryTurns.answerCount).map { _ in
                let socket = try RawSocket.connect(to: port, receiveBuffer: 65_536)
                try socket.write(
                    ElementalTests.frame(-2, Array("h".utf8))
                        + ElementalTests.frame(-4, Hello(features: .history).wireBytes)
                        + (0..<requestCount).flatMap { Self.request(UInt64($0), Weather.picture.id) })
                return socket
            }
            try await eventually("the sockets are full") {
                service.devices.count == silent.count
                    && service.devices.allSatisfy { $0.outbound.withLock { $0.stream.flush == .blocked } }
            }
            let device = try await ElementalDevice.connect(
                host: "127.0.0.1", port: port, as: "reader", elements: nil, options: .patient)
            var iterator = device.history(of: Weather.count, from: .oldest, follows: false).makeAsyncIterator()
            #expect(Self.values(try await Self.take(10_001, &iterator)).map(\.value) == Array(1...10_000))
            for socket in [silent[0], silent[silent.count - 1]] {
                var tokens: Set<UInt64> = []
                while tokens.count < requestCount {
                    let frame = try await socket.readFrame()
                    guard frame.id == SystemElement.history.rawValue else { continue }
                    let answer = try #require(frame.value.withUnsafeBytes { HistoryAnswer(wireBytes: $0) })
                    #expect(answer.values.count == 60_000 + HistoryAnswer.valueHeaderByteCount)
                    tokens.insert(answer.token)
                }
                #expect(tokens == Set(0..<UInt64(requestCount)))
            }
            await device.close()
        }
    }
}
