import ElementalSecurity
import ElementalWire
import NIOCore

extension Session {
    /// Acts on a system element.
    func receiveSystem(_ id: Int8, _ value: UnsafeRawBufferPointer, over transport: Transport) {
        // All others depend on the order of the stream.
        if transport == .udp, !SystemElement.ofDatagrams.contains(id) {
            receiver.counts.messagesUnknown += 1
            return
        }
        switch handshake.receive(id, value) {
        case .udpIdentifier(let identifier):
            udpIdentifier = identifier
            device.state.withLock { $0.identity.udpIdentifier = identifier }
            updateDatagramState()
        case .named(let name):
            if !name.isEmpty { device.state.withLock { $0.identity.name = name } }
            if let refusal = owner?.session(self, refuses: name) { return refuse(refusal) }
            if !isReady, let hello = device.hello { answer(hello) }
        case .hello(let hello):
            receiver.acceptsEmptyValues = true
            device.state.withLock { $0.identity.hello = hello }
            device.outbound.withLock { outbound in
                outbound.peer.emptyValues = hello.features.contains(.emptyValues)
                outbound.peer.pieces = hello.features.contains(.pieces)
                outbound.peer.timedValues = hello.features.contains(.timedValues)
            }
            if awaitsName { return }
            answer(hello)
            if device.role == .client {
                if !isReady { becomeReady() }
                return
            }
        case .catalogue(let catalogue):
            learn(catalogue)
        case .invalidCatalogue(let problem):
            receiver.counts.messagesMalformed += 1
            reject(problem)
        case .shutDown(let text):
            // The connection ends first, so that callers whose requests fail can see whether a replacement follows.
            fail(.shutDown(text))
            device.failRequests(ElementalError(.notConnected, "the service shut down: \(text)"))
        case .pong:
            answerPing(value, over: transport)
        case .ponged:
            if let time = watchdog.takePong(value) { device.note(roundTrip: time) } else { device.answerPing(value) }
        case .piece:
            receiver.receivePiece(value, for: self)
        case .piecesTaken:
            if !sender.receiveAck(value) { receiver.counts.messagesMalformed += 1 }
        case .refused(let id, let refusal):
            guard let element = receiver.table.catalogue[id: id] else { return }
            for handler in device.handlers.refusalHandlers { handler(element, refusal, device) }
        case .datagramSecret(let secret):
            receiveDatagramSecret(secret)
        case .clock(let frame):
            receive(frame)
        case .historyRequest(let request):
            receive(request)
        case .historyAnswer(let answer):
            device.take(answer)
        case .timedValue:
            return receiver.receiveTimed(value, isDatagram: transport == .udp, for: self)
        case .unknown:
            receiver.counts.messagesUnknown += 1
        case .malformed:
            receiver.counts.messagesMalformed += 1
        }
        if device.role == .service, !isReady, handshake.hasIdentifier,
            !expectsHello || (handshake.hasHello && handshake.hasCatalogue)
        {
            becomeReady()
        }
    }

    /// Whether a decision about the client's name has to come first.
    var awaitsName: Bool { device.role == .client && !handshake.hasName && owner?.decidesByName == true }

    private func answer(_ hello: Hello) {
        owner?.session(self, received: hello)
        updateDatagramState()
        startHeartbeat()
        startClock()
    }

    private func answerPing(_ value: UnsafeRawBufferPointer, over transport: Transport) {
        if transport == .tcp, device.state.withLock({ $0.undecided.keep(value) }) { return }
        device.outbound.withLock { _ = $0.appendAnswer(.pong, over: transport, value) }
    }

    func becomeReady() {
        guard !isReady, isOpen, let channel = bytes.channel else { return }
        receiver.isReady = true
        watchdog.handshakeIsDone()
        let connection = Connection(channel: channel, handler: self)
        self.connection = connection
        shareDatagrams()
        // The new connection may be to another machine.
        device.state.withLock { state in
            state.identity.clock = nil
            state.inbound.times = [:]
        }
        device.outbound.withLock { $0.open(connection, hasHello: handshake.hasHello) }
        startHeartbeat()
        startClock()
        owner?.sessionIsReady(self)
        takeHistoryTurn()
    }

    /// Starts the heartbeat with a peer that is ready and has announced that it answers pings.
    private func startHeartbeat() {
        guard isReady, handshake.hasHello, device.hello?.features.contains(.ping) == true, watchdog.startHeartbeat()
        else {
            return
        }
        // From now on pings detect a dead peer. The system's own timeout would also end a connection to a slow reader.
        if let channel = bytes.channel { TCPWatch.release(channel) }
    }

    private func learn(_ catalogue: ElementCatalogue) {
        let own = receiver.table.catalogue
        if own.isEmpty {
            let learned = ElementTable(catalogue)
            receiver.use(learned)
            device.state.withLock { $0.identity.elements = learned }
            return device.settleCatalogue(.success(catalogue))
        }
        let comparison = own.compare(with: catalogue, of: device.name)
        device.outbound.withLock { $0.peer.leaveOut(comparison.missing) }
        device.settleCatalogue(.success(catalogue))
        if let mismatch = comparison.mismatch {
            fail(.catalogueMismatch(mismatch))
        }
    }

    /// A program with its own elements continues without the catalogue.
    private func reject(_ problem: WireError) {
        logger.warning("\(problem.message)", metadata: ["device": "\(device.name)"])
        device.settleCatalogue(.failure(problem))
        if expectsHello, receiver.table.catalogue.isEmpty {
            fail(.invalidCatalogue(problem.message))
        }
    }

    /// The peer's secret for the keys of datagrams: on an encrypted connection, once.
    private func receiveDatagramSecret(_ secret: [UInt8]) {
        guard let datagramProtection else {
            receiver.counts.messagesUnknown += 1
            return
        }
        // Without an identifier there are no datagrams, and the peer gets no answer.
        guard udpIdentifier != 0 else { return }
        do {
            if let answer = try datagramProtection.receive(secret, udpIdentifier: udpIdentifier) {
                sender.queue(.datagramSecret, answer)
            }
            updateDatagramState()
        } catch {
            let text = "the secret for datagrams is malformed, or was sent twice"
            fail(.protocolViolation(text), shutdownText: text)
        }
    }

    /// Other threads do not send the datagrams of an encrypted connection, which are sealed on the event loop.
    private func shareDatagrams() {
        if datagramProtection == nil, let sink = sender.datagramSink { connection?.use(sink) }
    }

    func updateDatagramState() {
        let state: Outbound<Connection>.DatagramState
        if sender.datagramSink != nil, udpIdentifier != 0 {
            state =
                datagramProtection?.isOpen == false
                ? .unavailable("the keys of datagrams are not exchanged yet; try again")
                : .open(udpIdentifier: udpIdentifier)
        } else if udpIdentifier == 0, handshake.hasIdentifier || device.role == .client {
            state = .unavailable(
                "no UDP identifier is left (a service has 254), or the service has UDP disabled")
        } else if device.role == .client {
            state = .unavailable(
                "the client does not accept datagrams (an older ElementalController never does)")
        } else {
            state = .unavailable("no UDP socket could be opened for the service's address")
        }
        shareDatagrams()
        let overhead = datagramProtection == nil ? 0 : SealedDatagram.overhead
        device.outbound.withLock { outbound in
            outbound.datagramOverhead = overhead
            outbound.setDatagramState(state)
        }
    }
}
