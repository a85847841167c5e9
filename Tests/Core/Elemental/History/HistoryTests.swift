import ElementalWire
import Foundation
import Support
import TestSupport
import Testing

@testable import Elemental

/// Values of the past over sockets: in order, each once, and what is missing is told.
@Suite(.backstop)
struct HistoryTests {
    enum Weather {
        static let count = Element<UInt64>(1, "Count", access: .read).withHistory(HistoryLimits())
        static let fast = Element<UInt64>(2, "Fast", transport: .udp, access: .read).withTimes
            .withHistory(HistoryLimits())
        static let short = Element<UInt64>(3, "Short", access: .read).withHistory(HistoryLimits(count: 100))
        static let picture = Element<Data>(4, "Picture", access: .read).withHistory(HistoryLimits())
        static let plain = Element<UInt64>(5, "Plain")
        static let secret = Element<UInt64>(6, "Secret", access: .read).readable(by: .control)
            .withHistory(HistoryLimits())
        static let all: ElementCatalogue = [count, fast, short, picture, plain, secret]
    }

    /// Takes so many values or gaps.
    static func take<Value>(
        _ count: Int, _ iterator: inout HistoryValues<Value>.Iterator
    ) async throws -> [HistoryItem<Value>] {
        var items: [HistoryItem<Value>] = []
        while items.count < count, let item = try await iterator.next() { items.append(item) }
        return items
    }

    static func values<Value>(_ items: [HistoryItem<Value>]) -> [HistoryValue<Value>] {
        items.compactMap { if case .value(let value) = $0 { value } else { nil } }
    }

    private static func gaps<Value>(_ items: [HistoryItem<Value>]) -> [HistoryGap] {
        items.compactMap { if case .gap(let gap) = $0 { gap } else { nil } }
    }

    @Test(
        "the past and what follows come in order, each value once, while the service goes on sending",
        arguments: ConnectionKind.allCases, [Weather.count, Weather.fast])
    func pastAndPresent(kind: ConnectionKind, element: Element<UInt64>) async throws {
        try await withPair(Weather.all, client: nil, over: kind) { service, device in
            let before = MeasurementTime.now
            for number in 1...5000 as ClosedRange<UInt64> { _ = try service.send(number, to: element) }
            let sending = Task {
                for number in 5001...10_000 as ClosedRange<UInt64> {
                    _ = try service.send(number, to: element)
                    if number.isMultiple(of: 50) { try await device.ping() }
                }
            }
            try await eventually("the clock") { device.clock != nil }
            var iterator = device.history(of: element, from: .oldest).makeAsyncIterator()
            let items = try await Self.take(10_000, &iterator)
            let values = Self.values(items)
            #expect(values.map(\.value) == Array(1...10_000))
            // First those of the past, then the others.
            #expect(values[0].isPast)
            #expect(values.map(\.isPast) == values.map(\.isPast).sorted { $0 && !$1 })
            let times = try values.map { try #require($0.time) }
            let error = Int64(try #require(times.map(\.error).max()) / .microseconds(1))
            for (one, next) in zip(times, times.dropFirst()) {
                #expect(next.time.microseconds >= one.time.microseconds - 2 * error)
            }
            #expect(times[0].time.microseconds >= before.microseconds - error)
            try await sending.value
            // In the end they come when they are sent.
            for number in 10_001...11_000 as ClosedRange<UInt64> {
                _ = try service.send(number, to: element)
                guard case .value(let next)? = try await iterator.next() else { throw TestSupportError("no value") }
                #expect(next.value == number)
                if !next.isPast { return }
            }
            Issue.record("all values are of the past")
        }
    }

    @Test("without following it ends with the newest value")
    func past() async throws {
        try await withPair(Weather.all, client: nil) { service, device in
            var empty = device.history(of: Weather.count, from: .oldest, follows: false).makeAsyncIterator()
            #expect(try await empty.next() == nil)
            for number in 1...1000 as ClosedRange<UInt64> { _ = try service.send(number, to: Weather.count) }
            for (beginning, first) in [
                (.oldest, 1), (.newest(10), 991), (.newest(0), 1001), (.newest(.max), 1),
                (.time(MeasurementTime(microseconds: .min)), 1), (.time(MeasurementTime(microseconds: .max)), 1001),
            ] as [(HistoryBeginning, UInt64)] {
                var numbers: [UInt64] = []
                for try await item in device.history(of: Weather.count, from: beginning, follows: false) {
                    if case .value(let value) = item { numbers.append(value.value) }
                }
                #expect(numbers == (first..<1001).map { $0 }, "\(beginning)")
            }
        }
    }

    @Test("it goes on from a position, by text, and tells how many values were dropped meanwhile")
    func positions() async throws {
        try await withPair(Weather.all, client: nil) { service, device in
            for number in 1...100 as ClosedRange<UInt64> { _ = try service.send(number, to: Weather.short) }
            var iterator = device.history(of: Weather.short, from: .oldest, follows: false).makeAsyncIterator()
            let first = try #require(Self.values(try await Self.take(30, &iterator)).last)
            #expect(first.value == 30)
            let position = try #require(HistoryPosition(first.position.description))
            for (end, gap) in [(100, 0), (130, 0), (131, 1), (1000, 870)] as [(UInt64, UInt64)] {
                for number in 1...end {
                    if try #require(service.value(of: Weather.short)) < number {
                        _ = try service.send(number, to: Weather.short)
                    }
                }
                var items: [HistoryItem<UInt64>] = []
                for try await item in device.history(of: Weather.short, from: .position(position), follows: false) {
                    items.append(item)
                }
                let expected = gap == 0 ? [] : [HistoryGap(count: gap, maximumCount: gap)]
                #expect(Self.gaps(items) == expected, "\(end)")
                #expect(Self.values(items).map(\.value) == Array(30 + gap + 1...end), "\(end)")
            }
            // Some that were dropped may be of the time that is asked for.
            var old = device.history(
                of: Weather.short, from: .time(MeasurementTime(microseconds: .min)), follows: false
            ).makeAsyncIterator()
            #expect(Self.gaps(try await Self.take(1, &old)) == [HistoryGap(count: nil, maximumCount: 900)])
        }
    }

    @Test("a value that is too long for the history is a gap of one")
    func longValues() async throws {
        try await withPair(Weather.all, client: nil) { service, device in
            let longest = HistoryLimits.maximumValueByteCount
            for count in [longest, longest + 1, 3, 300_000] {
                _ = try service.send(Data(count: count), to: Weather.picture)
            }
            var iterator = device.history(of: Weather.picture, from: .oldest, follows: false).makeAsyncIterator()
            let items = try await Self.take(10, &iterator)
            #expect(Self.values(items).map(\.value.count) == [longest, 3])
            #expect(Self.gaps(items) == Array(repeating: HistoryGap(count: 1, maximumCount: 1), count: 2))
        }
    }

    @Test("it goes on after a connection that was lost, without a gap; another life of the service is told")
    func reconnection() async throws {
        let service = try await Reconnecting.service(Weather.all)
        let device = try await Reconnecting.connect(service, Reconnecting.soon, elements: nil)
        var iterator = device.history(of: Weather.count, from: .oldest).makeAsyncIterator()
        var sent: UInt64 = 0
        for round in 1...3 {
            for _ in 0..<500 {
                sent += 1
                _ = try service.send(sent, to: Weather.count)
            }
            let part = try await Self.take(250, &iterator)
            #expect(Self.values(part).map(\.value) == (sent - 499...sent - 250).map { $0 }, "round \(round)")
            for client in service.devices { await client.close() }
            let rest = try await Self.take(250, &iterator)
            #expect(Self.values(rest).map(\.value) == (sent - 249...sent).map { $0 }, "round \(round)")
        }
        let port = try #require(service.port)
        await service.stop()
        let other = try await Reconnecting.service(at: port, Weather.all) { _ in
        } handlers: { service in
            _ = try? service.send(7, to: Weather.count)
        }
        let items = try await Self.take(2, &iterator)
        #expect(Self.gaps(items) == [HistoryGap(count: nil, maximumCount: nil)])
        #expect(Self.values(items).map(\.value) == [7])
        await device.close()
        let error = await #expect(throws: ElementalError.self) { try await Self.take(1, &iterator) }
        #expect(error?.code == .notConnected)
        await other.stop()
    }

    @Test("a client that is ready before the service's hello waits for that")
    func early() async throws {
        try await withService(Weather.all) { service, port in
            _ = try service.send(1, to: Weather.count)
            for beginning in [HistoryBeginning.oldest, .time(MeasurementTime(microseconds: .min))] {
                let device = try await ElementalDevice.connect(
                    host: "127.0.0.1", port: port, as: "early", elements: Weather.all, options: .patient)
                var iterator = device.history(of: Weather.count, from: beginning, follows: false).makeAsyncIterator()
                #expect(Self.values(try await Self.take(1, &iterator)).map(\.value) == [1])
                await device.close()
            }
        }
    }

    @Test("nobody gets a history that there is not, or that the role may not read")
    func refusals() async throws {
        try await RoleService.with(.paired, elements: Weather.all) { roles in
            _ = try roles.service.send(1, to: Weather.secret)
            for (role, isAllowed) in [(Role.observe, false), (.control, true)] {
                let device = try await roles.connect(role)
                var iterator = device.history(of: Weather.secret, from: .oldest, follows: false).makeAsyncIterator()
                if isAllowed {
                    #expect(Self.values(try await Self.take(1, &iterator)).map(\.value) == [1])
                } else {
                    let error = await #expect(throws: ElementalError.self) { try await Self.take(1, &iterator) }
                    #expect(error?.code == .notAllowed)
                }
                var plain = device.history(of: Weather.plain, from: .oldest).makeAsyncIterator()
                let error = await #expect(throws: ElementalError.self) { try await Self.take(1, &plain) }
                #expect(error?.code == .notAllowed)
                await device.close()
            }
        }
    }

    @Test("a history that runs ends with its client's pairing")
    func revocation() async throws {
        let ends = try PairedEnds(.control)
        try await withService(Weather.all, over: .plain) {
            $0.security = ends.serviceSecurity
        } _: { service, port in
            var options = ConnectOptions.patient
            options.security = ends.clientSecurity
            let device = try await connectByName(port, elements: Weather.all, options: options)
            _ = try service.send(1, to: Weather.secret)
            var iterator = device.history(of: Weather.secret, from: .oldest).makeAsyncIterator()
            #expect(Self.values(try await Self.take(1, &iterator)).map(\.value) == [1])
            try ends.trust(nil)
            let error = await #expect(throws: ElementalError.self) { try await Self.take(1, &iterator) }
            #expect(error?.code == .notConnected)
        }
    }

    @Test("a wait that is cancelled ends, and the next one gets the value")
    func cancellation() async throws {
        try await withPair(Weather.all, client: nil) { service, device in
            for _ in 0..<3 * Session.maximumHistoryRequestCount {
                let waiting = Task {
                    var iterator = device.history(of: Weather.count, from: .oldest).makeAsyncIterator()
                    return try await iterator.next()
                }
                try await device.ping()
                waiting.cancel()
                let error = await #expect(throws: ElementalError.self) { try await waiting.value }
                #expect(error?.code == .cancelled)
            }
            _ = try service.send(1, to: Weather.count)
            var iterator = device.history(of: Weather.count, from: .oldest).makeAsyncIterator()
            #expect(Self.values(try await Self.take(1, &iterator)).map(\.value) == [1])
        }
    }

    // MARK: - Hostile peers

    private static func frame(_ request: HistoryRequest) -> [UInt8] {
        ElementalTests.frame(SystemElement.history.rawValue, request.wireBytes)
    }

    static func request(
        _ token: UInt64, _ element: Int8 = 1, _ start: HistoryStart = .newest(.max), waits: Bool = false
    ) -> [UInt8] {
        frame(HistoryRequest(token: token, element: element, from: start, waits: waits))
    }

    static func answers(_ bytes: [UInt8]) throws -> [HistoryAnswer] {
        var answers: [HistoryAnswer] = []
        try bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            while let id = reader.uint8(), let length = reader.uint32() {
                guard let value = reader.bytes(Int(length)) else { throw TestSupportError("a frame is cut off") }
                guard Int8(bitPattern: id) == SystemElement.history.rawValue else { continue }
                answers.append(try #require(HistoryAnswer(wireBytes: value)))
            }
        }
        return answers
    }

    func hello(_ peer: EmbeddedPeer, _ features: Hello.Features = .history) {
        peer.say(
            ElementalTests.frame(-2, Array("h".utf8)) + ElementalTests.frame(-4, Hello(features: features).wireBytes))
    }

    @Test("a client that asks without end has few requests that wait, and gets no more than it reads")
    func manyRequests() throws {
        let service = EmbeddedService(elements: Weather.all)
        let peer = try service.connect()
        hello(peer)
        _ = try peer.heard()
        for number in 1...10_000 as ClosedRange<UInt64> { _ = try service.service.send(number, to: Weather.count) }
        let end = HistoryPosition(life: HistoryLife(), number: 1, check: 0)
        // Each gets an answer, of no more than a piece.
        for token in 0..<1000 as Range<UInt64> {
            peer.say(Self.request(token))
            service.loop.advanceTime(by: HistoryTurns.pause)
        }
        let answers = try Self.answers(try peer.heard())
        #expect(answers.count == 1000 && answers.allSatisfy { $0.values.count < HistoryAnswer.fullByteCount + 20 })
        // In one read as many wait as may, the others are refused.
        let count = Session.maximumHistoryBurst
        peer.say((0..<count).flatMap { Self.request(UInt64($0), 1, .position(end)) })
        service.wait(1)
        let burst = try Self.answers(try peer.heard())
        #expect(burst.count { $0.refusal == .tooMany } == count - Session.maximumHistoryRequestCount)
        #expect(burst.count { $0.refusal == nil } == Session.maximumHistoryRequestCount)
        peer.say((0...count).flatMap { Self.request(UInt64($0)) })
        #expect(String(decoding: try peer.heard(), as: UTF8.self).contains("more than \(count) history requests"))
    }

    @Test("those that wait for a value have a bound, and are forgotten with the connection")
    func waiting() throws {
        let service = EmbeddedService(elements: Weather.all)
        let peer = try service.connect()
        hello(peer)
        peer.say(Self.request(1))
        service.loop.run()
        let first = try #require(try Self.answers(try peer.heard()).first)
        let end = HistoryPosition(life: first.life, number: first.first - 1, check: first.check)
        for token in 10..<310 as Range<UInt64> { peer.say(Self.request(token, 1, .position(end), waits: true)) }
        let refused = try Self.answers(try peer.heard())
        #expect(refused.count == 300 - Session.maximumHistoryRequestCount)
        #expect(refused.allSatisfy { $0.refusal == .tooMany })
        service.wait(1)
        #expect(try Self.answers(try peer.heard()).isEmpty)
        _ = try service.service.send(5, to: Weather.count)
        service.wait(1)
        let answers = try Self.answers(try peer.heard())
        #expect(Set(answers.map(\.token)) == Set(10..<10 + UInt64(Session.maximumHistoryRequestCount)))
        peer.say(Self.request(7, 1, .position(end), waits: true))
        service.wait(1)
        peer.channel.close(promise: nil)
        service.loop.run()
        _ = try service.service.send(6, to: Weather.count)
    }

    @Test("what is no request is counted and has no effect")
    func malformed() throws {
        let service = EmbeddedService(elements: Weather.all)
        let peer = try service.connect()
        // Before a hello it is no element of this connection.
        peer.say(ElementalTests.frame(-2, Array("h".utf8)) + Self.request(1))
        let device = try #require(service.service.devices.first ?? nil, "the client is there")
        hello(peer)
        _ = try peer.heard()
        let whole = HistoryRequest(
            token: 1, element: 1, from: .position(HistoryPosition(life: HistoryLife(), number: 1, check: 1)),
            waits: false
        ).wireBytes
        for count in 0..<whole.count { peer.say(ElementalTests.frame(-18, Array(whole[..<count]))) }
        for (index, byte) in [(0, 0), (0, 2), (0, 3), (9, 0x81), (11, 0), (11, 4), (11, 0xFF)] as [(Int, UInt8)] {
            var changed = whole
            changed[index] = byte
            peer.say(ElementalTests.frame(-18, changed))
        }
        peer.say(ElementalTests.frame(-18, whole + [0]))
        #expect(try Self.answers(try peer.heard()).isEmpty)
        #expect(device.statistics.messagesMalformed == whole.count + 8)
        for element in [5, 7, 100] as [Int8] { peer.say(Self.request(UInt64(element), element)) }
        service.wait(1)
        #expect(try Self.answers(try peer.heard()).map(\.refusal) == [.unknown, .unknown, .unknown])
        #expect(peer.isOpen)
    }

    @Test("an answer is read only if it is whole, and its numbers never overflow")
    func hostileAnswers() {
        let value: [UInt8] = [1, 2, 3]
        var answer = HistoryAnswer(token: 1, life: HistoryLife(), first: 5, next: 6, values: [])
        answer.values.append(littleEndian: Int64(7))
        answer.values.append(littleEndian: UInt32(value.count))
        answer.values += value
        let whole = answer.wireBytes
        func read(_ bytes: [UInt8]) -> HistoryAnswer? { bytes.withUnsafeBytes { HistoryAnswer(wireBytes: $0) } }
        #expect(read(whole)?.wireBytes == whole)
        let empty = HistoryAnswer.headerByteCount
        for count in whole.indices where count != empty { #expect(read(Array(whole[..<count])) == nil, "\(count)") }
        for (first, next) in [
            (0, 1), (0, 6), (5, 5), (5, 4), (5, 1 << 62), (1 << 62, 1 << 62), (.max, .max),
        ] as [(UInt64, UInt64)] {
            var wrong = answer
            (wrong.first, wrong.next) = (first, next)
            #expect(read(wrong.wireBytes) == nil, "\(first), \(next)")
        }
        for gap in [nil, HistoryGap(count: 3, maximumCount: 3), HistoryGap(count: nil, maximumCount: nil)] {
            answer.gap = gap
            #expect(read(answer.wireBytes)?.gap == gap)
        }
        #expect(read(HistoryAnswer.refusal(.unknown, token: 4))?.refusal == .unknown)
        #expect(read([3] + [UInt8](repeating: 0, count: 8) + [9]) == nil)
    }
}
