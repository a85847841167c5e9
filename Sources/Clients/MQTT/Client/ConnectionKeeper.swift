import ClientTransport
import NIOCore
import Support

/// Connects a client, and reconnects it when the connection is lost. Used on its event loop only.
final class ConnectionKeeper {
    private enum Phase {
        case idle
        /// Asks for the password, or connects.
        case preparing
        case connecting(ConnectionHandler)
        case connected(ConnectionHandler)
        case waiting(Scheduled<Void>)
        /// Sends the waiting messages, then DISCONNECT.
        case stopping(ConnectionHandler)
        case ended
    }

    /// The maximum time for which ``stop()`` waits until all messages are sent and acknowledged.
    private static let drainTimeout = TimeAmount.milliseconds(1500)
    /// The maximum of messages taken from the outbox in one turn of the event loop.
    private static let maximumDrain = 4096

    let core: ClientCore
    private var phase = Phase.idle
    private var completion: ((Result<Void, MQTTError>) -> Void)?
    /// Counts attempts, so that a late result of an earlier one is ignored.
    private var generation: UInt64 = 0
    private var deadline: Scheduled<Void>?
    private var passwordTask: Task<Void, Never>?
    private var retries: Retries
    private var hasBeenConnected = false
    /// The granted subscriptions, in the order of their first SUBSCRIBE.
    private var subscriptions: [Subscription] = []

    init(_ core: ClientCore) {
        self.core = core
        retries = Retries(policy: core.options.reconnection)
    }

    private var eventLoop: any EventLoop { core.eventLoop }

    // MARK: - Starting and stopping

    func start(_ completion: @escaping (Result<Void, MQTTError>) -> Void) {
        self.completion = completion
        // ``stop()`` may have been called before.
        guard case .idle = phase else { return finish(nil) }
        attempt()
    }

    func stop() {
        switch phase {
        case .idle: phase = .ended
        case .preparing: finish(nil)
        case .connecting(let handler):
            phase = .stopping(handler)
            handler.end(nil)
        case .connected(let handler):
            phase = .stopping(handler)
            core.outbox.withLock { $0.isOpen = false }
            deadline = eventLoop.assumeIsolated().scheduleTask(in: Self.drainTimeout) { handler.disconnect() }
            drain()
        case .waiting(let timer):
            timer.cancel()
            finish(nil)
        case .stopping, .ended: break
        }
    }

    private func finish(_ error: MQTTError?) {
        generation += 1
        phase = .ended
        deadline?.cancel()
        passwordTask?.cancel()
        core.logger.debug("ended", metadata: ["error": "\(error.map { "\($0)" } ?? "none")"])
        core.events.emit(.ended(error))
        completion?(error.map { .failure($0) } ?? .success(()))
        completion = nil
    }

    // MARK: - Connecting

    private func attempt() {
        generation += 1
        phase = .preparing
        guard let provider = core.options.password else { return dial(password: nil) }
        let keeper = NIOLoopBound(self, eventLoop: eventLoop)
        startDeadline()
        passwordTask = Task { [eventLoop, generation] in
            let password: Result<String?, MQTTError>
            do {
                password = .success(try await provider())
            } catch {
                password = .failure(
                    MQTTError(.passwordUnavailable, "cannot get the password for the connection", cause: error))
            }
            eventLoop.execute { keeper.value.received(password, generation) }
        }
    }

    private func received(_ password: Result<String?, MQTTError>, _ generation: UInt64) {
        guard generation == self.generation else { return }
        passwordTask = nil
        deadline?.cancel()
        switch password {
        case .success(let password?) where password.utf8.count > 65535:
            failed(MQTTError(.passwordUnavailable, "the password has more than 65535 bytes"))
        case .success(let password): dial(password: password)
        case .failure(let error): failed(error)
        }
    }

    private func dial(password: String?) {
        let packet = core.connectPacket(password: password)
        startDeadline()
        core.connect { [core] in try ConnectionHandler.add(to: $0, core, packet) }
            .assumeIsolated().whenComplete { [self, generation] result in
                guard generation == self.generation else {
                    if case .success(let channel) = result { channel.close(promise: nil) }
                    return
                }
                switch result {
                case .success(let channel):
                    // A host may have several addresses: this is the connection that was established first.
                    guard let handler = try? channel.pipeline.syncOperations.handler(type: ConnectionHandler.self)
                    else { return failed(.closed(core.address)) }
                    phase = .connecting(handler)
                    handler.begin(self)
                case .failure(let error): failed(MQTTError(connecting: error, core.address))
                }
            }
    }

    private func startDeadline() {
        let timeout = core.options.connectTimeout
        deadline = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [self, generation] in
            guard generation == self.generation else { return }
            func error(_ step: String) -> MQTTError {
                MQTTError(.timedOut, "cannot connect to \(core.address) within \(timeout): \(step)")
            }
            if case .connecting(let handler) = phase {
                handler.end(
                    error("it accepted the TCP connection but does not answer; does it speak MQTT on this port?"))
            } else {
                failed(error(passwordTask == nil ? "no answer" : "the password provider returned nothing"))
            }
        }
    }

    private func failed(_ error: MQTTError) {
        generation += 1
        deadline?.cancel()
        passwordTask?.cancel()
        core.logger.debug("cannot connect", metadata: ["address": "\(core.address)", "error": "\(error)"])
        guard hasBeenConnected || !error.isLasting else { return finish(error) }
        retry(error)
    }

    private func retry(_ error: MQTTError) {
        guard let (number, delay) = retries.next(after: error, now: eventLoop.now) else { return finish(error) }
        phase = .waiting(eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [self] in attempt() })
        core.events.emit(.willReconnect(attempt: number, delay: delay, error: error))
    }

    // MARK: - The connection

    func connected(_ handler: ConnectionHandler) {
        guard case .connecting = phase else { return }
        deadline?.cancel()
        phase = .connected(handler)
        hasBeenConnected = true
        retries.connected(at: eventLoop.now)
        core.statistics.withLock { $0.connections += 1 }
        core.logger.debug("connected", metadata: ["address": "\(core.address)", "client": "\(core.clientID)"])
        core.outbox.withLock { $0.isOpen = true }
        core.events.emit(.connected)
        if core.options.restoresSubscriptions { restore() }
    }

    /// - Parameter error: the reason; `nil` if the client wanted the end.
    func ended(_ error: MQTTError?) {
        deadline?.cancel()
        let senders = core.outbox.withLock { $0.clear() }
        let reason =
            error.map { MQTTError(.connectionLost, "the connection was lost before the message was sent: \($0)") }
            ?? MQTTError(.stopped, "the client was stopped before the message was sent")
        for sender in senders { sender.resolve(.failure(reason)) }
        switch phase {
        case .connecting: failed(error ?? .closed(core.address))
        case .connected:
            let error = error ?? .lost(nil, clientID: core.clientID)
            core.logger.debug("lost", metadata: ["address": "\(core.address)", "error": "\(error)"])
            retries.lost(at: eventLoop.now)
            retry(error)
        case .stopping: finish(nil)
        case .idle, .preparing, .waiting, .ended: break
        }
    }

    // MARK: - Messages

    private var open: ConnectionHandler? {
        switch phase {
        case .connected(let handler), .stopping(let handler): handler
        default: nil
        }
    }

    /// Sends a message at once if no other waits and the connection can take it. Otherwise adds it to the outbox.
    func publishNewest(_ message: OutgoingMessage) throws(MQTTError) {
        let handler = open
        let canSend = handler.map { $0.isWritable && (message.qos == .atMostOnce || $0.hasRoom) } ?? false
        let isNext = try core.outbox.withLock { outbox in
            Result { () throws(MQTTError) in
                if canSend, outbox.isOpen, outbox.isEmpty { return true }
                try outbox.addNewest(message)
                return false
            }
        }.get()
        if isNext { handler?.send(message) }
    }

    /// Sends waiting messages while the connection takes them.
    func drain() {
        guard let handler = open else { return }
        for _ in 0..<Self.maximumDrain {
            // This is called again when the connection becomes writable.
            guard handler.isWritable else { return }
            let (message, isEmpty) = core.outbox.withLock { $0.takeNext(hasRoom: handler.hasRoom) }
            guard let message else {
                if isEmpty, case .stopping = phase, !handler.isAwaited { handler.disconnect() }
                return
            }
            handler.send(message)
        }
        eventLoop.assumeIsolated().execute { [self] in drain() }
    }

    // MARK: - Subscriptions

    func subscribe(_ filters: [Subscription], _ handler: @escaping ConnectionHandler.RequestHandler) {
        guard case .connected(let connection) = phase else { return handler(.failure(.notConnected)) }
        let granted: ConnectionHandler.RequestHandler = { [self] result in
            if case .success(let codes) = result {
                for (subscription, code) in zip(filters, codes) where code < 0x80 { remember(subscription) }
            }
            handler(result)
        }
        connection.request(codes: filters.count, granted) { $0.writeSubscribe(filters, identifier: $1) }
    }

    func unsubscribe(_ filters: [String], _ handler: @escaping ConnectionHandler.RequestHandler) {
        // Removed first: if the connection is lost before the broker answers, they must not be restored.
        subscriptions.removeAll { filters.contains($0.filter) }
        guard case .connected(let connection) = phase else { return handler(.failure(.notConnected)) }
        connection.request(codes: 0, handler) { $0.writeUnsubscribe(filters, identifier: $1) }
    }

    private func remember(_ subscription: Subscription) {
        guard let index = subscriptions.firstIndex(where: { $0.filter == subscription.filter }) else {
            return subscriptions.append(subscription)
        }
        subscriptions[index] = subscription
    }

    /// Subscribes again, because the broker forgot the subscriptions with the last connection.
    private func restore() {
        guard case .connected(let connection) = phase else { return }
        for start in stride(from: 0, to: subscriptions.count, by: OutgoingPacket.maximumFilters) {
            let filters = subscriptions[start...].prefix(OutgoingPacket.maximumFilters)
            let restored: ConnectionHandler.RequestHandler = { [self] result in
                guard case .success(let codes) = result else { return }
                let refused = zip(filters, codes).filter { $1 >= 0x80 }.map { $0.0.filter }
                guard !refused.isEmpty else { return }
                subscriptions.removeAll { refused.contains($0.filter) }
                core.events.emit(.subscriptionsRefused(refused))
            }
            connection.request(codes: filters.count, restored) { $0.writeSubscribe(filters, identifier: $1) }
        }
    }
}
