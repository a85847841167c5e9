import TestSupport
import Testing

/// What hostile peers can cost a service: memory, descriptors and CPU time of an `elemental publish` process. Lines that
/// begin with `cost:` have the figures for the documentation's page "What a peer can cost".
@Suite(.serialized)
struct PeerCostTests {
    static let name: [UInt8] = [0xfe, 4, 0, 0, 0] + Array("host".utf8)
    /// Every feature except UDP.
    static let hello: [UInt8] = [0xfc, 7, 0, 0, 0, 1, 0b10101, 0, 0, 0, 0, 0]

    static func header(_ id: Int8, _ length: Int) -> [UInt8] {
        [UInt8(bitPattern: id)] + ScriptedService.littleEndian(length)
    }

    /// Runs a service with an Int8 element at identifier 1, and further elements if given.
    static func publishing(
        _ arguments: [String] = [], before: String = "", shell: String = "sh",
        _ body: (ChildProcess, ProcessFigures, Int) async throws -> Void
    ) async throws {
        let publish =
            [
                try ElementalProcess.path, "publish", "target", "--unlisted", "--address", "127.0.0.1", "--json",
                "--element", "1:Level:int8=7",
            ] + arguments
        try await ChildProcess.with(shell, ["-c", before + "exec \"$@\"", "sh"] + publish) { service in
            let port = try await service.listeningPort()
            try await body(service, ProcessFigures(of: service), port)
        }
    }

    static func expectServing(_ port: Int) async throws {
        let get = try await ElementalProcess.run("get", "127.0.0.1:\(port)", "Level", "--timeout", Patience.seconds)
        #expect(get.status == .exited(0), "\(get.errors)")
        #expect(get.output == ["Level=7"])
    }

    static func tell(_ text: String) { print("cost: \(text)") }

    // MARK: Memory

    @Test("values of undefined elements and of wrong lengths are not assembled")
    func announcedLengths() async throws {
        try await Self.publishing { _, figures, port in
            let before = try figures.residentMemory
            let (mebibyte, part) = ([UInt8](repeating: 65, count: 1 << 20), [UInt8](repeating: 65, count: 1 << 16))
            var peers: [RawSocket] = []
            var sent = 0
            for _ in 0..<8 {
                let peer = try RawSocket.connect(to: port)
                try peer.write(Self.name + Self.hello)
                // A value in pieces, of an undefined element and of one whose values have one byte.
                let id: UInt8 = peers.count.isMultiple(of: 2) ? 9 : 1
                for index in 0..<192 {
                    try peer.write(ScriptedService.piece(id, part, at: index << 16, of: 100 << 20))
                }
                // A frame beside it.
                try peer.write(Self.header(Int8(id), 100 << 20))
                for _ in 0..<12 { try peer.write(mebibyte) }
                sent += 24
                peers.append(peer)
            }
            try await Self.expectServing(port)
            let grown = try figures.peakMemory - before
            Self.tell("8 connections that send \(sent) MiB of values that never end: \(grown) KiB of memory")
            // At most 256 KiB per connection are read at a time.
            expectMemory(grown, below: 24 << 10)
            withExtendedLifetime(peers) {}
        }
    }

    @Test("--max-value: a longer value ends the connection, and so do two that exceed it together")
    func maximumValue() async throws {
        let arguments = ["--element", "2:Picture:data", "--max-value", "1000000"]
        try await Self.publishing(arguments) { service, figures, port in
            let before = try figures.residentMemory
            let long = try RawSocket.connect(to: port)
            try long.write(Self.name + Self.hello + Self.header(2, 1_000_001))
            let last = String(decoding: try await long.readToEnd(), as: UTF8.self)
            #expect(last.contains("announces a value of 1000001 bytes; the limit is 1000000"), "\(last)")

            let pair = try RawSocket.connect(to: port)
            try pair.write(Self.name + Self.hello)
            let part = [UInt8](repeating: 65, count: 1 << 16)
            for index in 0..<15 {
                try pair.write(ScriptedService.piece(2, part, at: index << 16, of: 1_000_000))
            }
            // More than fits beside the value in pieces.
            try pair.write(Self.header(2, 999_999) + [UInt8](repeating: 66, count: 400_000))
            let end = String(decoding: try await pair.readToEnd(), as: UTF8.self)
            #expect(end.contains("incomplete values"), "\(end)")

            // A value of the longest allowed length is accepted.
            let value = try RawSocket.connect(to: port)
            try value.write(
                Self.name + Self.hello + Self.header(2, 1_000_000) + [UInt8](repeating: 67, count: 1_000_000))
            let event = try await service.nextLine { $0.contains("\"event\":\"value\"") }
            #expect(event.text.contains("434343"))
            let grown = try figures.peakMemory - before
            Self.tell("a value of 1 MB taken, one in pieces and a frame that were too long together: \(grown) KiB")
        }
    }

    @Test("a service cannot make its client assemble useless values")
    func hostileService() async throws {
        let (socket, port) = try RawSocket.listen()
        let arguments = [
            "watch", "127.0.0.1:\(port)", "--json", "--element", "1:Level:int8", "--max-value", "100000",
        ]
        try await withCommand(arguments) { client in
            let peer = try await socket.accept()
            try peer.write([0xff, 1, 0, 0, 0, 7] + Self.header(1, 1) + [5])
            try await client.nextEvent("value")
            let figures = ProcessFigures(of: client)
            let before = try figures.residentMemory
            let quarter = [UInt8](repeating: 65, count: 25_000)
            for _ in 0..<40 {
                // An undefined element and one of another length, each in four writes.
                for id: Int8 in [9, 1] {
                    try peer.write(Self.header(id, 100_000))
                    for _ in 0..<4 { try peer.write(quarter) }
                }
            }
            try peer.write(Self.header(1, 1) + [6])
            let event = try await client.nextLine { $0.contains("\"value\":6") }
            #expect(event.text.contains("Level"))
            let grown = try figures.peakMemory - before
            expectMemory(grown, below: 8 << 10)
            try peer.write(Self.header(9, 100_001))
            let end = try await client.nextEvent("disconnected")
            #expect(end["reason"] == "protocolViolation")
        }
    }

    @Test("a flood of frames of undefined elements ends the connection, at a limit, and costs no memory")
    func unknownFlood() async throws {
        try await Self.publishing { service, figures, port in
            let (memory, time) = (try figures.residentMemory, try figures.processorTime)
            let peer = try RawSocket.connect(to: port)
            try peer.write(Self.name)
            let frames = Array(repeating: [99, 1, 0, 0, 0, 7] as [UInt8], count: 10_000).flatMap { $0 }
            var sent = 0
            // The service closes while they are written.
            while sent < 3_000_000, (try? peer.write(frames)) != nil { sent += 10_000 }
            let disconnected = try await service.nextEvent("disconnected")
            #expect(disconnected["reason"] == "protocolViolation")
            let message: String = disconnected["message"] ?? ""
            #expect(message.contains("the limit is 1000000"), "\(disconnected)")
            let spent = try figures.processorTime - time
            let grown = try figures.peakMemory - memory
            Self.tell(
                "a flood of undefined elements until it is disconnected, \(sent) frames written: \(grown) KiB, "
                    + "\(Int(spent * 1000)) ms of processor time")
            expectMemory(grown, below: 8 << 10)
            try await Self.expectServing(port)
        }
    }

    // MARK: Peers that do not read

    @Test("pings from a peer that does not read: the queued pongs are limited")
    func unreadPongs() async throws {
        try await Self.publishing { service, figures, port in
            let memory = try figures.residentMemory
            let peer = try RawSocket.connect(to: port)
            try peer.write(Self.name + Self.hello)
            let pings = Array(repeating: Self.header(-6, 1024) + [UInt8](repeating: 1, count: 1024), count: 1000)
                .flatMap { $0 }
            for _ in 0..<32 { try peer.write(pings) }
            try await Self.expectServing(port)
            let grown = try figures.peakMemory - memory
            // All pings have been handled before this value. A peer that reads then gets what the system's buffers and the
            // queue hold: 12 MiB of 31.
            try peer.write(Self.header(1, 1) + [9])
            try await service.nextEvent("value") { $0.number("value") == 9 }
            peer.closeOutput()
            let pongs = try await peer.readToEnd().count
            #expect(pongs < 20 << 20, "\(pongs) bytes")
            Self.tell("32,000 pings of 1 KiB from a peer that reads no answer: \(grown) KiB")
            expectMemory(grown, below: 20 << 10)
        }
    }

    @Test("values for a peer that does not read: the queue is limited")
    func unreadValues() async throws {
        try await Self.publishing(["--element", "2:Text:string"]) { service, figures, port in
            let stalled = try RawSocket.connect(to: port)
            try stalled.write(Self.name + Self.hello)
            let memory = try figures.residentMemory
            // What one device sends goes to all.
            let sender = try RawSocket.connect(to: port)
            try sender.write(Self.name + Self.hello)
            let reading = Task { try await sender.readToEnd().count }
            let value = Self.header(2, 16_384) + [UInt8](repeating: 65, count: 16_384)
            for _ in 0..<1400 { try sender.write(value) }
            try sender.write(Self.header(1, 1) + [9])
            try await service.nextEvent("value") { $0.number("value") == 9 }
            let grown = try figures.peakMemory - memory
            Self.tell("23 MB of values for a peer that does not read: \(grown) KiB")
            expectMemory(grown, below: 40 << 10)
            sender.closeOutput()
            _ = try await reading.value
            stalled.closeOutput()
            let queued = try await stalled.readToEnd().count
            #expect(queued < 20 << 20, "\(queued) bytes")
        }
    }

    // MARK: Connections and datagrams

    @Test("connecting and leaving in a loop costs only processor time")
    func reconnectionLoop() async throws {
        try await Self.publishing { _, figures, port in
            for _ in 0..<200 { _ = try RawSocket.connect(to: port) }
            try await Self.expectServing(port)
            let (memory, time, descriptors) = (
                try figures.residentMemory, try figures.processorTime, try figures.descriptors
            )
            for index in 0..<2000 {
                let socket = try RawSocket.connect(to: port)
                try socket.write(Self.name + Self.hello)
                // A frame that never ends.
                if index.isMultiple(of: 3) { try? socket.write([1, 200, 0, 0]) }
            }
            try await Self.expectServing(port)
            try await eventually { try figures.descriptors <= descriptors + 8 }
            let spent = try figures.processorTime - time
            let grown = try figures.residentMemory - memory
            Self.tell(
                "2,000 connections that say hello and go: \(Int(spent * 500)) µs of processor time each, \(grown) KiB")
            expectMemory(grown, below: 4 << 10)
        }
    }

    @Test("datagrams with other devices' identifiers change nothing and cost only processor time")
    func foreignDatagrams() async throws {
        try await Self.publishing(["--element", "2:Motion:float:udp=0.5"]) { service, figures, port in
            let victim = try RawSocket.connect(to: port)
            try victim.write(Self.name)
            let identifier = try #require(try await victim.readFrame().value.first)
            let (memory, time) = (try figures.residentMemory, try figures.processorTime)
            // The victim is connected from another address, so the sender cannot use its identifier.
            let other = try RawSocket.datagram(address: "127.0.0.2")
            for index in 0..<20_000 {
                let number = index.isMultiple(of: 2) ? identifier : UInt8(truncatingIfNeeded: index)
                try? other.send(datagram: Self.header(2, 4) + [number, 0, 0, 0, 0], to: port)
            }
            let get = try await ElementalProcess.run(
                "get", "127.0.0.1:\(port)", "Motion", "--timeout", Patience.seconds)
            #expect(get.output == ["Motion=0.5"], "\(get.errors)")
            #expect(!service.lines(of: .output).contains { $0.contains("\"event\":\"value\"") })
            let spent = try figures.processorTime - time
            let grown = try figures.peakMemory - memory
            Self.tell("20,000 datagrams with identifiers of others: \(Int(spent * 50)) µs each, \(grown) KiB")
            expectMemory(grown, below: 8 << 10)
        }
    }
}
