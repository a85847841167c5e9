import ElementalWire
import NIOCore

/// The actions that a ``Receiver`` leaves to its connection.
protocol ReceiverOwner: AnyObject {
    /// A value arrived before the handshake was complete. The connection may become ready because of it.
    func receiveEarlyValue()
    func receiveSystem(_ id: Int8, _ value: UnsafeRawBufferPointer, over transport: Transport)
    /// Pieces of a large value were received, with this many bytes.
    func noteTaken(_ byteCount: Int)
    func refuse(_ id: Int8, _ reason: ValueRefusal.Reason)
    /// The incomplete values hold this many bytes more than before; negative if they hold fewer. Returns the consequence
    /// if they hold too many.
    func incompleteByteCountChanged(_ byteCount: Int) -> IncompleteExcess?
    /// An incomplete value of this length was discarded.
    func discardedIncomplete(_ element: ElementDefinition, byteCount: Int)
    /// Ends the connection because of what was received.
    func fail(_ kind: DisconnectReason.Kind, shutdownText: String?)
}

enum IncompleteExcess {
    case leaveOut
    case end(String)
}

/// Decodes what a connection receives into values and passes them to all handlers. On the event loop.
///
/// Handlers run while the decoder and the assembler of pieces are being changed. ``isReceiving`` is `true` meanwhile:
/// neither may be entered again or replaced then.
final class Receiver {
    // Checked for every value, so stored here rather than in the owner.
    var isReady = false
    /// Whether the peer has sent a hello, so that an empty value is valid.
    var acceptsEmptyValues = false
    private var isReceiving = false
    /// Whether delivery has stopped for good.
    private(set) var isOver = false
    /// Counts since the last batch ended.
    var counts = ReceivedCounts()
    private(set) var table: ElementTable
    private var rules: UnsafePointer<ElementTable.Rule>
    private(set) var decoder: StreamDecoder
    private(set) var pieces: PieceAssembler?
    var lastBatchTime: NIODeadline?
    /// Bytes held by incomplete values, as last reported to the owner.
    private(set) var incompleteByteCount = 0

    private let device: ElementalDevice
    /// The device's newest values. Unmanaged, since they are accessed for every value; ``device`` keeps them alive.
    private let newest: Unmanaged<NewestValues>
    private let isFromClient: Bool
    /// The service's handlers, shared by all its devices, which are called before the device's own.
    private var shared: HandlerView
    private var own: HandlerView
    private let progress: ProgressReporter
    private var throttle: Throttle?
    private var unknownInARow = 0
    /// When the value being delivered was measured, in microseconds of the peer's clock; `nil` if the peer has not sent
    /// that.
    private var time: Int64?
    /// When the next value of an element was measured, if the peer has sent that ahead of the value.
    private var timesAhead: [Int8: Int64] = [:]

    init(_ device: ElementalDevice, _ table: ElementTable, _ progress: ProgressReporter) {
        self.device = device
        self.table = table
        self.progress = progress
        rules = table.rules
        newest = .passUnretained(device.newest)
        isFromClient = device.role == .client
        shared = HandlerView(progress.shared)
        own = HandlerView(device.handlers)
        throttle = device.limits.maximumMessagesPerSecond.map { Throttle(limit: $0) }
        decoder = StreamDecoder(maximumValueByteCount: device.limits.maximumValueByteCount)
    }

    func use(_ table: ElementTable) {
        self.table = table
        rules = table.rules
    }

    func stop() { isOver = true }

    // MARK: Receiving

    func receive(_ buffer: ByteBuffer, for owner: any ReceiverOwner) {
        counts.bytesReceived += buffer.readableBytes
        guard !isOver else {
            if !isReceiving { discardGathered(for: owner) }
            return
        }
        precondition(!isReceiving, "bytes were received while a handler of earlier bytes was running")
        isReceiving = true
        defer { isReceiving = false }
        do {
            try buffer.withUnsafeReadableBytes { bytes throws(WireError) in
                try decoder.decode(bytes) { id, length in
                    keptByteCount(id, length)
                } _: { id, value in
                    if id < 0 {
                        owner.receiveSystem(id, value.bytes, over: .tcp)
                    } else {
                        if value.isLong { handOver(value.bytes.count, for: owner) }
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

    func receiveDatagram(_ id: Int8, _ value: UnsafeRawBufferPointer, for owner: any ReceiverOwner) {
        guard !isOver else { return }
        counts.bytesReceived += Envelope.datagramByteCount + value.count
        if isThrottled {
            counts.messagesRejected += 1
            return
        }
        if id >= 0 {
            deliver(id, ReceivedBytes(value, isDatagram: true), for: owner)
        } else {
            owner.receiveSystem(id, value, over: .udp)
        }
    }

    func receivePiece(_ piece: UnsafeRawBufferPointer, for owner: any ReceiverOwner) {
        do {
            if pieces == nil { pieces = PieceAssembler(maximumValueByteCount: device.limits.maximumValueByteCount) }
            try pieces?.take(piece) { id, length in
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
        owner.fail(.protocolViolation("\(error)"), shutdownText: "protocol violation: \(error)")
    }

    @inline(never)
    private func deliverWhole(_ id: Int8, _ value: ReceivedBytes, for owner: any ReceiverOwner) {
        if value.isLong { handOver(value.bytes.count, for: owner) }
        deliver(id, value, for: owner)
    }

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
        let isSpecial = rule.pointee.isSpecial
        if isSpecial, rule.pointee.isTimed, !value.isDatagram { takeTimeAhead(of: id) }
        guard rule.pointee.isWellFormed(value.bytes) else { return noteMalformed() }
        guard rule.pointee.isTaken(fromClient: isFromClient) else {
            // Nothing of a long value was buffered.
            return reject(id, .notAllowed, for: owner)
        }
        guard !value.bytes.isEmpty || acceptsEmptyValues else { return noteMalformed() }
        guard rule.pointee.allows(value.bytes) else { return reject(id, .outOfRange, for: owner) }
        if isSpecial, rule.pointee.hasChoices, !table.isChoice(id, value.bytes) {
            return reject(id, .notAChoice, for: owner)
        }
        counts.messagesReceived += 1
        // Refreshes the handlers for every message, because a handler of the previous message may have added or cancelled
        // one. Before the first handler is called: a handler that is added during the call gets this value as the newest,
        // and must not get it again. And before the value becomes the newest: a handler that was added earlier first gets
        // the newest values received before it.
        if own.isStale { refreshOwn() }
        if shared.isStale { shared.refresh(at: shared.table.version) }
        if isSpecial, rule.pointee.isTimed { noteTime(of: id) }
        newest._withUnsafeGuaranteedRef { $0.set(id, value) }
        if let handlers = shared.handlers { call(handlers, id, value) }
        if let handlers = own.handlers { call(handlers, id, value) }
    }

    @inline(__always)
    private func call(_ handlers: Unmanaged<HandlerSnapshot>, _ id: Int8, _ value: ReceivedBytes) {
        handlers._withUnsafeGuaranteedRef { handlers in
            handlers.call(id, value, device)
            if handlers.hasForAll { callForAll(handlers, id, value) }
        }
    }

    @inline(never)
    private func reject(_ id: Int8, _ reason: ValueRefusal.Reason, for owner: any ReceiverOwner) {
        counts.messagesRejected += 1
        time = nil
        owner.refuse(id, reason)
    }

    @inline(never)
    private func noteMalformed() {
        counts.messagesMalformed += 1
        time = nil
    }

    /// Uses up a time that was sent ahead: it belongs to the next value over TCP, even if that is rejected.
    @inline(never)
    private func takeTimeAhead(of id: Int8) {
        let ahead = timesAhead.removeValue(forKey: id)
        time = time ?? ahead
    }

    /// Receives a value with its time: see ``TimedValue``.
    func receiveTimed(_ bytes: UnsafeRawBufferPointer, isDatagram: Bool, for owner: any ReceiverOwner) {
        guard let value = TimedValue(wireBytes: bytes), !(value.isAhead && isDatagram) else {
            return counts.messagesMalformed += 1
        }
        if value.isAhead {
            guard rules[Int(value.id)].isTimed else { return counts.messagesUnknown += 1 }
            return timesAhead[value.id] = value.time
        }
        // Not a protocol violation: any program may have sent the datagram.
        if isDatagram, value.value.count > device.limits.maximumValueByteCount {
            return counts.messagesMalformed += 1
        }
        // The stream's limit does not apply to the system's frames.
        let (count, limit) = (value.value.count, device.limits.maximumValueByteCount)
        if count > limit {
            let text = "a value of element \(value.id) has \(count) bytes; the limit is \(limit)"
            return violate(WireError(.valueTooLarge, text), for: owner)
        }
        time = value.time
        deliver(value.id, ReceivedBytes(value.value, isDatagram: isDatagram), for: owner)
        time = nil
    }

    @inline(never)
    private func noteTime(of id: Int8) {
        var time = self.time.take()
        device.state.withLock { state in
            if let peerTime = time, !state.isPlausible(peerTime) {
                time = nil
                state.inbound.statistics.timesRejected += 1
            }
            state.inbound.times[id] = time
        }
    }

    @inline(never)
    private func refreshOwn() {
        let version = own.table.version
        own.table.catchUp()
        own.refresh(at: version)
    }

    @inline(never)
    private func callForAll(_ handlers: HandlerSnapshot, _ id: Int8, _ value: ReceivedBytes) {
        guard let element = table.catalogue[id: id] else { return }
        for handler in handlers.forAll { handler(element, value, device) }
    }

    // MARK: End of a batch

    /// Publishes the counts and checks them against the limits.
    ///
    /// - Returns: when reading may resume, if not now.
    func finishBatch(for owner: any ReceiverOwner) -> NIODeadline? {
        lastBatchTime = device.eventLoop.now
        let batch = publishCounts()
        if batch.messagesReceived > 0 {
            unknownInARow = 0
        } else {
            unknownInARow += batch.messagesUnknown
        }
        if let limit = device.limits.maximumUnknownCount, unknownInARow > limit {
            let text = "\(unknownInARow) frames of unknown elements in a row; the limit is \(limit)"
            owner.fail(.protocolViolation(text), shutdownText: text)
            return nil
        }
        return throttle?.add(batch.messageCount, at: device.eventLoop.now)
    }

    @discardableResult
    func publishCounts() -> ReceivedCounts {
        let batch = counts
        counts = ReceivedCounts()
        device.state.withLock { $0.inbound.statistics.add(batch) }
        return batch
    }

    var isThrottled: Bool { throttle?.isOver == true }

    /// - Returns: when reading may resume, if not now.
    func beginSecond() -> NIODeadline? { throttle?.goOn(at: device.eventLoop.now) }
}

/// Values and bytes received since the device's statistics were last updated.
struct ReceivedCounts {
    var messagesReceived = 0
    var bytesReceived = 0
    var messagesMalformed = 0
    var messagesUnknown = 0
    var messagesRejected = 0
    var messagesOutdated = 0
    /// Requests for histories, which do not count as messages.
    var historyRequests = 0

    var messageCount: Int { messagesReceived + messagesUnknown + messagesMalformed + messagesRejected }
}

extension DeviceStatistics {
    fileprivate mutating func add(_ counts: ReceivedCounts) {
        messagesReceived += counts.messagesReceived
        bytesReceived += counts.bytesReceived
        messagesMalformed += counts.messagesMalformed
        messagesUnknown += counts.messagesUnknown
        messagesRejected += counts.messagesRejected
        messagesOutdated += counts.messagesOutdated
    }
}

extension Receiver {
    /// How much to keep of a value that does not arrive in one read: nothing if it will not be accepted.
    private func keptByteCount(_ id: Int8, _ length: Int) -> Int {
        guard id < 0 else { return rules[Int(id)].keptByteCount(of: length, fromClient: isFromClient) }
        return SystemElement(rawValue: id)?.keptByteCount(of: length) ?? 0
    }

    /// Reports the progress of a large value that an older peer sends whole.
    private func reportPending() {
        guard let frame = decoder.pendingFrame, frame.id >= 0, frame.length > Envelope.wholeByteCount else { return }
        let byteCount = decoder.bufferedByteCount - Envelope.streamByteCount
        // Nothing is buffered of a value that will be rejected.
        guard byteCount > 0 else { return }
        progress.report(
            PieceAssembler.Progress(id: frame.id, byteCount: byteCount, total: frame.length), .incoming)
    }

    var gatheredNow: Int { decoder.bufferedByteCount + (pieces?.bufferedByteCount ?? 0) }

    private func watchGathered(for owner: any ReceiverOwner) {
        let count = gatheredNow
        if count != incompleteByteCount { noteGathered(count, for: owner) }
        if isOver { discardGathered(for: owner) }
    }

    private func noteGathered(_ count: Int, for owner: any ReceiverOwner) {
        let excess = owner.incompleteByteCountChanged(count - incompleteByteCount)
        incompleteByteCount = count
        guard !isOver else { return }
        let limit = device.limits.maximumValueByteCount
        if count > limit + Envelope.wholeByteCount + Envelope.streamByteCount {
            violate(
                WireError(.valueTooLarge, "incomplete values have \(count) bytes; the limit is \(limit)"),
                for: owner)
            return
        }
        switch excess {
        case nil: break
        case .end(let reason):
            owner.fail(.limitReached(reason), shutdownText: reason)
        case .leaveOut: leaveOutIncomplete(for: owner)
        }
    }

    private func leaveOutIncomplete(for owner: any ReceiverOwner) {
        let dropped = [decoder.leaveOut(), pieces?.leaveOut()].compactMap { $0 }
        // Frames of the system remain: a catalogue, or a single piece.
        guard !dropped.isEmpty else { return }
        counts.messagesRejected += dropped.count
        noteGathered(gatheredNow, for: owner)
        for value in dropped {
            timesAhead[value.id] = nil
            guard let element = table.catalogue[id: value.id] else { continue }
            owner.discardedIncomplete(element, byteCount: value.length)
        }
    }

    /// Stops counting a complete value as incomplete: from now on it counts where it is kept.
    @inline(never)
    private func handOver(_ byteCount: Int, for owner: any ReceiverOwner) {
        let count = max(0, incompleteByteCount - byteCount)
        _ = owner.incompleteByteCountChanged(count - incompleteByteCount)
        incompleteByteCount = count
    }

    private func discardGathered(for owner: any ReceiverOwner) {
        guard gatheredNow > 0 else { return }
        decoder = StreamDecoder(maximumValueByteCount: decoder.maximumValueByteCount)
        pieces = nil
        noteGathered(0, for: owner)
    }
}
