import ElementalWire
import NIOCore

/// What a ``Receiver`` asks and leaves to its connection.
protocol ReceiverOwner: AnyObject {
    /// A value came before the handshake was done. The connection may become ready because of it.
    func receiveEarlyValue()
    /// A system frame came.
    func receiveSystem(_ id: Int8, _ value: UnsafeRawBufferPointer, over transport: Transport)
    /// Pieces of a large value came, of so many bytes.
    func noteTaken(_ byteCount: Int)
    /// A value is not handed on.
    func refuse(_ id: Int8, _ reason: ValueRefusal.Reason)
    /// The incomplete values take so many bytes more than before, or fewer if it is negative. The answer is a reason to
    /// end the connection, or `nil`.
    func gathers(_ byteCount: Int) -> String?
    /// Ends the connection because of what came.
    func fail(_ reason: DisconnectReason, shutdownText: String?)
}

/// Turns what came over a connection into values and hands them to everyone who asked for them. On the event loop.
final class Receiver {
    // What holds for the next value. Looked at for each, so it lies here and not with the owner.
    /// Whether values are handed on: the handshake is done.
    var isReady = false
    /// Whether the peer has said hello, so that an empty value is one.
    var takesEmptyValues = false
    /// Whether the connection's end has begun: nothing is handed on any more.
    private(set) var isOver = false
    /// What came since the last batch ended.
    var counts = DeviceStatistics()
    /// What frames are checked against.
    private(set) var table: ElementTable
    /// Those of the table, at hand.
    private var rules: UnsafePointer<ElementTable.Rule>
    private(set) var decoder: StreamDecoder
    private(set) var pieces: PieceAssembler
    /// What the values take that have not come whole, as the owner knows it.
    private(set) var gatheredByteCount = 0

    private let device: ElementalDevice
    /// The device's, which the device keeps: followed for every value, without a reference count.
    private let newest: Unmanaged<NewestValues>
    /// What an element must allow for the peer to send it.
    private let takes: Access
    private var own: HandlerView
    /// The service's, which every device of it shares.
    private var shared: HandlerView
    private let progress: ProgressReporter
    /// Values that came in the second under way, where they are limited.
    private var throttle: Throttle?
    private var unknownInARow = 0

    init(_ device: ElementalDevice, _ table: ElementTable, _ progress: ProgressReporter) {
        self.device = device
        self.table = table
        self.progress = progress
        rules = table.rules
        newest = .passUnretained(device.newest)
        takes = device.role == .client ? .write : .read
        own = HandlerView(device.handlers)
        shared = HandlerView(progress.shared)
        throttle = device.limits.maximumMessagesPerSecond.map { Throttle(limit: $0) }
        decoder = StreamDecoder(maximumValueByteCount: device.limits.maximumValueByteCount)
        pieces = PieceAssembler(maximumValueByteCount: device.limits.maximumValueByteCount)
    }

    /// Frames are checked against these elements from now on.
    func use(_ table: ElementTable) {
        self.table = table
        rules = table.rules
    }

    /// The connection's end has begun.
    func stop() { isOver = true }

    // MARK: What comes

    /// Bytes of the stream.
    func receive(_ buffer: ByteBuffer, for owner: any ReceiverOwner) {
        counts.bytesReceived += buffer.readableBytes
        guard !isOver else { return discardGathered(for: owner) }
        defer { device.newest.returnBorrowed() }
        do {
            try buffer.withUnsafeReadableBytes { bytes throws(WireError) in
                try decoder.decode(bytes) { id, length in
                    keptByteCount(id, length)
                } _: { id, value in
                    if id < 0 {
                        owner.receiveSystem(id, value.bytes, over: .tcp)
                    } else if value.bytes.count >= ReadBuffer.longByteCount, !value.isLong {
                        ReadBuffer.lend(value.bytes, of: buffer) { deliver(id, $0, for: owner) }
                    } else {
                        deliver(id, value, for: owner)
                    }
                    return isOver ? .stop : .next
                }
            }
            reportPending()
        } catch {
            violate(error, for: owner)
        }
        watchGathered(for: owner)
    }

    /// One message of a datagram that was found to be of this connection's peer.
    func receiveDatagram(_ id: Int8, _ value: UnsafeRawBufferPointer, for owner: any ReceiverOwner) {
        guard !isOver else { return }
        counts.bytesReceived += Envelope.datagramByteCount + value.count
        if isThrottled {
            counts.messagesRejected += 1
            return
        }
        if id >= 0 {
            deliver(id, ReceivedBytes(value), for: owner)
        } else {
            owner.receiveSystem(id, value, over: .udp)
        }
    }

    /// A part of a large value.
    func receivePiece(_ piece: UnsafeRawBufferPointer, for owner: any ReceiverOwner) {
        do {
            try pieces.take(piece) { id, length in
                keptByteCount(id, length)
            } progress: { progress in
                self.progress.report(progress, .incoming)
            } _: { id, value in
                deliverWhole(id, value, for: owner)
            }
            owner.noteTaken(piece.count - Piece.headerByteCount)
        } catch {
            violate(error, for: owner)
        }
    }

    private func violate(_ error: WireError, for owner: any ReceiverOwner) {
        owner.fail(
            DisconnectReason(.protocolViolation(String(describing: error)), isExpected: false),
            shutdownText: "protocol violation: \(error)")
    }

    @inline(never)
    private func deliverWhole(_ id: Int8, _ value: ReceivedBytes, for owner: any ReceiverOwner) {
        deliver(id, value, for: owner)
    }

    /// Checks a value and hands it to everyone who asked for it.
    @inline(__always)
    private func deliver(_ id: Int8, _ value: ReceivedBytes, for owner: any ReceiverOwner) {
        if !isReady {
            owner.receiveEarlyValue()
            guard isReady, !isOver else { return }
        }
        let rule = rules + Int(id)
        guard rule.pointee.isDefined else {
            counts.messagesUnknown += 1
            return
        }
        guard rule.pointee.isWellFormed(value.bytes) else {
            counts.messagesMalformed += 1
            return
        }
        guard rule.pointee.access.contains(takes) else {
            // Of a long one nothing was gathered.
            return reject(id, .notAllowed, for: owner)
        }
        guard !value.bytes.isEmpty || takesEmptyValues else {
            counts.messagesMalformed += 1
            return
        }
        guard rule.pointee.allows(value.bytes) else { return reject(id, .outOfRange, for: owner) }
        if rule.pointee.hasChoices, !table.isChoice(id, value.bytes) { return reject(id, .notAChoice, for: owner) }
        counts.messagesReceived += 1
        // Looked at for every message: a handler of the one before may have added or cancelled one. Both before the
        // first call: a handler that this call adds gets the value as the newest, and not again. And before the value
        // is the newest one: a handler that was added meanwhile is given those that came before it.
        if shared.isStale { shared.refresh() }
        if own.isStale { refreshOwn() }
        newest._withUnsafeGuaranteedRef { $0.set(id, value) }
        call(shared.handlers, id, value)
        call(own.handlers, id, value)
    }

    @inline(never)
    private func reject(_ id: Int8, _ reason: ValueRefusal.Reason, for owner: any ReceiverOwner) {
        counts.messagesRejected += 1
        owner.refuse(id, reason)
    }

    @inline(never)
    private func refreshOwn() {
        device.handlers.catchUp()
        own.refresh()
    }

    @inline(__always)
    private func call(_ handlers: Unmanaged<HandlerSnapshot>, _ id: Int8, _ value: ReceivedBytes) {
        handlers._withUnsafeGuaranteedRef { handlers in
            handlers.call(id, value, device)
            if handlers.hasForAll { callForAll(handlers.forAll, id, value) }
        }
    }

    @inline(never)
    private func callForAll(_ handlers: [AnyValueHandler], _ id: Int8, _ value: ReceivedBytes) {
        guard let element = table.catalogue[id: id] else { return }
        for handler in handlers { handler(element, value, device) }
    }

    // MARK: The end of a batch

    /// A batch of reads is over: publishes what was counted and looks whether it keeps to the limits.
    ///
    /// - Returns: when reading may go on, if it may not now.
    func finishBatch(for owner: any ReceiverOwner) -> NIODeadline? {
        let batch = publishCounts()
        if batch.messagesReceived > 0 {
            unknownInARow = 0
        } else {
            unknownInARow += batch.messagesUnknown
        }
        if let limit = device.limits.maximumUnknownCount, unknownInARow > limit {
            let text = "\(unknownInARow) frames in a row of elements that are not known here; the limit is \(limit)"
            owner.fail(DisconnectReason(.protocolViolation(text), isExpected: false), shutdownText: text)
            return nil
        }
        guard throttle != nil else { return nil }
        let count =
            batch.messagesReceived + batch.messagesUnknown + batch.messagesMalformed + batch.messagesRejected
        return throttle?.add(count, at: device.eventLoop.now)
    }

    /// Adds what was counted to the device's statistics.
    @discardableResult
    func publishCounts() -> DeviceStatistics {
        let batch = counts
        counts = DeviceStatistics()
        device.state.withLock { $0.inbound.statistics.addReceived(batch) }
        return batch
    }

    /// Whether a second has brought all that it may.
    var isThrottled: Bool { throttle?.isOver == true }

    /// The next second begins.
    ///
    /// - Returns: when reading may go on, if it may not now.
    func beginSecond() -> NIODeadline? { throttle?.goOn(at: device.eventLoop.now) }
}

/// Values that have not come whole.
extension Receiver {
    /// How many bytes are worth keeping of a value that does not come in one read: none where the element is not
    /// defined, or has another length, or does not take values from this end.
    private func keptByteCount(_ id: Int8, _ length: Int) -> Int {
        guard id < 0 else { return rules[Int(id)].keptByteCount(of: length, takes: takes) }
        return SystemElement(rawValue: id)?.keptByteCount(of: length) ?? 0
    }

    /// How far a large value has come that an older peer sends in one go.
    private func reportPending() {
        guard let frame = decoder.pendingFrame, frame.id >= 0, frame.length > Piece.wholeByteCount else { return }
        let byteCount = decoder.bufferedByteCount - Envelope.streamByteCount
        // Nothing is gathered of a value that will not be taken.
        guard byteCount > 0 else { return }
        progress.report(
            PieceAssembler.Progress(id: frame.id, byteCount: byteCount, total: frame.length), .incoming)
    }

    /// Ends the connection if the values that have not come whole take more than they may.
    private func watchGathered(for owner: any ReceiverOwner) {
        let count = decoder.bufferedByteCount + pieces.bufferedByteCount
        if count != gatheredByteCount { noteGathered(count, for: owner) }
        if isOver { discardGathered(for: owner) }
    }

    private func noteGathered(_ count: Int, for owner: any ReceiverOwner) {
        let refusal = owner.gathers(count - gatheredByteCount)
        gatheredByteCount = count
        guard !isOver else { return }
        let limit = device.limits.maximumValueByteCount
        if count > limit + Piece.wholeByteCount + Envelope.streamByteCount {
            violate(
                WireError(.valueTooLarge, "values that are still arriving have \(count) bytes; the limit is \(limit)"),
                for: owner)
        } else if let refusal {
            owner.fail(DisconnectReason(.limitReached(refusal), isExpected: false), shutdownText: refusal)
        }
    }

    /// Lets go of what has come of values that are of no interest any more.
    private func discardGathered(for owner: any ReceiverOwner) {
        guard decoder.bufferedByteCount + pieces.bufferedByteCount > 0 else { return }
        decoder = StreamDecoder(maximumValueByteCount: decoder.maximumValueByteCount)
        pieces = PieceAssembler(maximumValueByteCount: pieces.maximumValueByteCount)
        noteGathered(0, for: owner)
    }
}
