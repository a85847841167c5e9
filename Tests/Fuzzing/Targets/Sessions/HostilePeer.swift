import NIOCore
import NIOEmbedded

@testable import Elemental
@testable import ElementalWire
@testable import Support

/// The other end of a session, which does whatever an input says: sends frames, pieces of frames and datagrams, does not
/// read, lets time pass, goes; and the program at this end, which sends, pauses and closes meanwhile.
final class HostilePeer {
    let loop: EmbeddedEventLoop
    let channel: EmbeddedChannel
    /// The UDP socket at this end.
    let datagrams: EmbeddedChannel
    let address: SocketAddress
    let session: Session
    /// The elements of which nothing is written to the peer.
    var hidden = IdentifierSet()
    private let heldBack: HeldBack
    private var written = StreamDecoder(maximumValueByteCount: .max)
    private var frameCount = 0
    private var isPaused = false

    private static let stranger = address("192.0.2.66")

    static func address(_ host: String) -> SocketAddress {
        do { return try SocketAddress(ipAddress: host, port: 50_000) } catch { fatalError("\(error)") }
    }

    /// What a connection may take in a fuzzed session: little, so that inputs reach the limits.
    static var limits: DeviceLimits {
        var limits = DeviceLimits()
        limits.maximumValueByteCount = 48 * 1024
        limits.maximumQueueByteCount = 64 * 1024
        limits.readyQueueByteCount = 4096
        limits.handshakeTimeout = .seconds(5)
        limits.closeTimeout = .seconds(1)
        return limits
    }

    init(
        loop: EmbeddedEventLoop, address: SocketAddress, datagrams: EmbeddedChannel,
        connect: (EmbeddedChannel) throws -> Session
    ) throws {
        self.loop = loop
        self.address = address
        self.datagrams = datagrams
        heldBack = HeldBack()
        channel = EmbeddedChannel(loop: loop)
        channel.remoteAddress = address
        try channel.pipeline.syncOperations.addHandler(heldBack)
        session = try connect(channel)
        loop.run()
        readWritten()
    }

    var device: ElementalDevice { session.device }

    // MARK: The input

    func play(_ reader: inout InputReader) {
        while !reader.isAtEnd {
            step(&reader)
            loop.run()
            readWritten()
            checkLimits()
        }
    }

    private func step(_ reader: inout InputReader) {
        switch reader.byte() % 14 {
        case 0:
            let id = reader.byte()
            let value = reader.bytes(Int(reader.byte()))
            receive(Self.header(id, value.count) + value)
        case 1: receive(reader.bytes(Int(reader.byte())))
        case 2: receive(reader.bytes(Int(reader.byte())), isLast: false)
        case 3:
            let id = reader.byte()
            let fill = reader.byte()
            let value = [UInt8](repeating: fill, count: Int(reader.byte()) * 256)
            receive(Self.header(id, value.count) + value)
        case 4: receiveDatagram(reader.bytes(Int(reader.byte())), from: address)
        case 5:
            let (id, isStrange) = (reader.byte(), reader.byte() & 1 == 1)
            let value = reader.bytes(Int(reader.byte()))
            receiveDatagram(
                Self.header(id, value.count) + [session.udpIdentifier] + value,
                from: isStrange ? Self.stranger : address)
        case 6: loop.advanceTime(by: .milliseconds(Int64(reader.byte()) * 50))
        case 7: heldBack.toggle()
        case 8:
            isPaused.toggle()
            if isPaused { device.pause() } else { device.resume() }
        case 9: send(&reader)
        case 10: device.disconnect()
        case 11: channel.pipeline.fireErrorCaught(IOError(errnoCode: 104, reason: "recv"))
        case 12: channel.close(promise: nil)
        default: look(reader.byte())
        }
    }

    /// A frame's first bytes; a test of the decoder's own would not do for its input.
    private static func header(_ id: UInt8, _ length: Int) -> [UInt8] {
        [id] + withUnsafeBytes(of: UInt32(length).littleEndian) { Array($0) }
    }

    private func receive(_ bytes: [UInt8], isLast: Bool = true) {
        guard channel.isActive else { return }
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
        if isLast { channel.pipeline.fireChannelReadComplete() }
    }

    private func receiveDatagram(_ bytes: [UInt8], from address: SocketAddress) {
        guard datagrams.isActive else { return }
        datagrams.pipeline.fireChannelRead(AddressedEnvelope(remoteAddress: address, data: ByteBuffer(bytes: bytes)))
        datagrams.pipeline.fireChannelReadComplete()
    }

    private func send(_ reader: inout InputReader) {
        let elements = device.knownElements
        guard !elements.isEmpty else { return }
        let element = elements[Int(reader.byte()) % elements.count]
        let count = Int(reader.byte()) * (element.type == .data ? 256 : 1)
        let bytes = [UInt8](repeating: reader.byte(), count: element.type.fixedByteCount ?? count)
        guard let value = bytes.withUnsafeBytes({ ElementValue(wireBytes: $0, type: element.type) }) else { return }
        try? device.send(value, to: element)
    }

    /// What a program may do at any time.
    private func look(_ choice: UInt8) {
        for element in device.knownElements { _ = device.value(of: element) }
        _ = device.statistics
        _ = "\(device)"
        switch choice % 4 {
        case 0: device.onAnyValue { _, _, _ in }
        case 1: device.onAnyValue { _, _, device in device.disconnect() }
        case 2: device.onAnyValue { _, _, _ in }.cancel()
        default: device.onAnyValue { element, value, device in try? device.send(value, to: element) }
        }
    }

    // MARK: What must hold

    /// What this end writes is a stream of whole frames, and holds no extension before this end has heard a hello, the
    /// client's own hello excepted.
    private func readWritten() {
        while let buffer = (try? channel.readOutbound(as: ByteBuffer.self)) ?? nil {
            do {
                try buffer.withUnsafeReadableBytes { bytes in
                    try written.decode(bytes) { id, value in
                        frameCount += 1
                        checkVisible(id, value.bytes)
                        let isOwnHello = device.role == .service && id == SystemElement.hello.rawValue
                        let isOlder = id >= SystemElement.shutdown.rawValue
                        check(isOlder || isOwnHello || device.hello != nil, "extension \(id) before a hello")
                        check(id >= 0 || SystemElement(rawValue: id) != nil, "the unknown element \(id) is written")
                        return .next
                    }
                }
            } catch {
                fatalError("broken: what is written is no stream: \(error)")
            }
        }
        while let buffer = (try? datagrams.readOutbound(as: ByteBuffer.self)) ?? nil { checkDatagram(buffer) }
        while let envelope = (try? datagrams.readOutbound(as: AddressedEnvelope<ByteBuffer>.self)) ?? nil {
            check(IPAddress(envelope.remoteAddress) == IPAddress(address), "a datagram to another host")
            checkDatagram(envelope.data)
        }
    }

    private func checkVisible(_ id: Int8, _ value: UnsafeRawBufferPointer) {
        let isOfAnElement = id == SystemElement.piece.rawValue || id == SystemElement.refused.rawValue
        let element = isOfAnElement ? value.first.map { Int8(bitPattern: $0) } : id
        guard let element, element >= 0 else { return }
        check(!hidden.contains(element), "the peer may not read element \(element)")
    }

    private func checkDatagram(_ datagram: ByteBuffer) {
        let result = datagram.withUnsafeReadableBytes { bytes in
            DatagramDecoder.decode(bytes) { id, udpIdentifier, value in
                checkVisible(id, value)
                check(udpIdentifier == session.udpIdentifier && udpIdentifier != 0, "identifier \(udpIdentifier)")
            }
        }
        check(result == .complete, "a datagram is written that is none")
    }

    private func checkLimits() {
        let limits = device.limits
        let most = limits.maximumValueByteCount + Envelope.wholeByteCount + Envelope.streamByteCount
        let receiver = session.receiver
        check(
            receiver.incompleteByteCount <= most, "\(receiver.incompleteByteCount) bytes of incomplete values are kept")
        check(
            receiver.gatheredNow == receiver.incompleteByteCount,
            "incomplete values are kept that are in no account")
        // Frames of the system's own have no limit, but there are few: a hello, a catalogue, pongs that had room.
        let slack = SessionElements.all.wireBytes.count + 2 * limits.maximumValueByteCount
        let waiting = device.queuedByteCount
        check(waiting <= 2 * limits.maximumQueueByteCount + slack, "\(waiting) bytes wait")
        check(heldBack.count <= 1, "\(heldBack.count) pieces were handed over")
    }

    /// The handshake and the closing come to an end in time; then the connection goes, and everything is over, with a
    /// reason.
    func finish() {
        loop.advanceTime(by: TimeAmount(device.limits.handshakeTimeout))
        loop.advanceTime(by: TimeAmount(device.limits.closeTimeout))
        loop.run()
        switch session.ending {
        case .none: check(session.isReady, "the handshake has no end")
        case .over: break
        case .draining, .closed: check(false, "the closing has no end")
        }
        heldBack.release()
        readWritten()
        _ = try? channel.finish(acceptAlreadyClosed: true)
        _ = try? datagrams.finish(acceptAlreadyClosed: true)
        // A client that was never ready tells whoever waits for it why; there is no device yet that could.
        let reason = device.disconnectReason
        check(reason.map { !$0.description.isEmpty } ?? (device.role == .service), "an end without a reason")
        check(!device.isConnected && session.owner == nil, "something is left of the connection")
        let statistics = device.statistics
        check(
            statistics.messagesUnsent >= 0 && statistics.messagesUnsent <= frameCount + statistics.messagesSent + 256,
            "\(statistics)")
    }
}
