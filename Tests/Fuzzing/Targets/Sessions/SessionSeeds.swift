@testable import ElementalWire

/// Inputs for ``HostilePeer``, composed of recorded frames and of what our own peers say.
enum SessionSeeds {
    /// A frame, as an input says it.
    static func frame(_ id: Int8, _ value: [UInt8]) -> [UInt8] {
        [0, UInt8(bitPattern: id), UInt8(value.count)] + value
    }

    /// Bytes of the stream, as an input says them.
    static func bytes(_ bytes: [UInt8]) -> [UInt8] { [1, UInt8(bytes.count)] + bytes }

    static let hello = frame(
        SystemElement.hello.rawValue,
        Hello(
            features: [.emptyValues, .ping, .wantsCatalogue, .catalogue, .clock, .timedValues, .history], udpPort: 4711
        )
        .wireBytes)
    static let name = frame(SystemElement.deviceName.rawValue, Array("client".utf8))
    static let identifier = frame(SystemElement.udpIdentifier.rawValue, [7])
    static let shutdown = frame(SystemElement.shutdown.rawValue, Array("enough".utf8))
    /// In three pieces, for it is longer than one may be.
    static let catalogue: [UInt8] = {
        let frame =
            [UInt8(bitPattern: SystemElement.catalogue.rawValue)]
            + withUnsafeBytes(of: UInt32(SessionElements.all.wireBytes.count).littleEndian) { Array($0) }
            + SessionElements.all.wireBytes
        return frame.pieces(of: 255).flatMap(bytes)
    }()
    static let invalidCatalogues = CatalogueTarget.invalid.map { frame(SystemElement.catalogue.rawValue, $0) }
    static let ping = frame(SystemElement.ping.rawValue, Array(0..<16))
    static let clocks = [ClockFrame.Kind.request, .answer].map { kind in
        frame(
            SystemElement.clock.rawValue,
            ClockFrame(kind, nonce: 1, first: 2, second: 3, anchor: 4, slept: 5).wireBytes)
    }
    /// A value with its time, and the time of one that comes later.
    static let timedValues = ([30, 158, 12] as [UInt8]).map { id in
        frame(SystemElement.timedValue.rawValue, [id] + [UInt8](repeating: 1, count: id < 128 ? 12 : 8))
    }
    /// Requests for values of the past, two of which wait, and answers.
    static let histories: [[UInt8]] = {
        let position = HistoryPosition(life: HistoryLife(first: 1, second: 2), number: 3, check: 4)
        let starts: [HistoryStart] = [.time(1), .newest(2), .position(position)]
        let requests = starts.flatMap { start in
            [false, true].map { HistoryRequest(token: 1, element: 31, from: start, waits: $0).wireBytes }
        }
        let header = [UInt8](repeating: 1, count: HistoryAnswer.headerByteCount)
        let answers = [
            [2] + header.dropFirst(), [2] + header.dropFirst() + [UInt8](repeating: 0, count: 24),
            [3] + header.prefix(9),
        ]
        return (requests + answers).map { frame(SystemElement.history.rawValue, $0) }
    }()
    static let pong = frame(SystemElement.pong.rawValue, Array(0..<16))

    /// Part of a piece of a large value, as an input says it.
    static func piece(_ id: UInt8, total: Int, offset: Int, _ byteCount: UInt8) -> [UInt8] {
        let numbers = [9 + Int(byteCount), total, offset].map { number in
            withUnsafeBytes(of: UInt32(number).littleEndian) { Array($0) }
        }
        let head = [UInt8(bitPattern: SystemElement.piece.rawValue)] + numbers[0] + [id] + numbers[1] + numbers[2]
        return bytes(head + [UInt8](repeating: 65, count: Int(byteCount)))
    }

    /// Values that are announced and do not come whole, of an undefined element, of a fixed length that is not theirs,
    /// and of data: as frames, in pieces, and both beside each other.
    static let announcements: [[UInt8]] = ([100, 1, 12] as [UInt8]).flatMap { id -> [[UInt8]] in
        let frame = bytes([id, 0, 0xB0, 0, 0] + [UInt8](repeating: 66, count: 200))
        let pieces = piece(id, total: 40_000, offset: 0, 200) + piece(id, total: 40_000, offset: 200, 200)
        return [frame, pieces, pieces + frame, frame + [1, 255] + [UInt8](repeating: 67, count: 255)]
    }

    /// The rest of the life of a connection whose handshake is over.
    static func lives(_ frames: RecordedFrames) -> [[UInt8]] {
        let values = frames.streams.filter { $0.count < 200 }.map(bytes)
        // The last two: an element of the stream, and a sealed datagram that nobody sealed.
        let unusual: [[UInt8]] = [[12, 1, 0, 0, 0, 2, 65], [0xF4, 2, 1] + [UInt8](repeating: 0, count: 37)]
        let datagrams = (frames.datagrams + unusual).map { [4, UInt8($0.count)] + $0 }
        let sends: [UInt8] = (0..<22).flatMap { [9, $0, 40, 0] }
        let program: [UInt8] = [8, 13, 0, 13, 3, 8]
        let stuck: [UInt8] = [7, 9, 11, 200, 65, 9, 11, 200, 65, 9, 11, 200, 65, 9, 11, 200, 65, 6, 40, 7]
        let (allValues, allDatagrams) = (values.flatMap { $0 }, datagrams.flatMap { $0 })
        let zeros = [UInt8](repeating: 0, count: 12)
        let others: [[UInt8]] = [
            allValues, allDatagrams, ping + pong, sends, program + allValues, stuck, [3, 12, 0, 70] + ping,
            clocks.flatMap { $0 } + ping, timedValues.flatMap { $0 } + allValues,
            histories.flatMap { $0 } + allValues, [5, 24, 0, 12] + zeros,
            [5, 24, 1, 0], [10] + ping, [11], [12], [6, 255, 6, 255],
        ]
        return values + datagrams + announcements + others
    }
}
