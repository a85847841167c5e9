import NIOCore
import Support

extension MQTTClient {
    /// Subscribes to topic filters, and waits for the broker's answer.
    ///
    /// A subscription lasts until ``unsubscribe(from:)``: it is restored after a reconnection, unless
    /// ``MQTTOptions/restoresSubscriptions`` is `false`.
    ///
    /// - Returns: the QoS that the broker grants for each filter; it may be lower than the one asked for.
    /// - Throws: ``MQTTError/Code/subscriptionRefused`` if the broker refuses any of them; the others are then
    ///   subscribed to; ``MQTTError/Code/queueFull`` if too many requests are unanswered;
    ///   ``MQTTError/Code/invalidTopic``, ``MQTTError/Code/notConnected``, ``MQTTError/Code/connectionLost``;
    ///   ``MQTTError/Code/cancelled`` at once when the task is cancelled.
    @discardableResult
    public func subscribe(to filters: [(filter: String, qos: MQTTQoS)]) async throws(MQTTError) -> [MQTTQoS] {
        for (filter, _) in filters { try MQTTTopic.check(filter: filter) }
        let codes = try await request(filters) { $0.subscribe($1, $2) }
        let refused = zip(filters, codes).filter { $1 >= 0x80 }.map { "'\($0.0.filter)'" }
        guard refused.isEmpty else {
            throw MQTTError(
                .subscriptionRefused,
                "the broker refuses the subscription to \(refused.joined(separator: ", ")) (SUBACK 0x80): its access "
                    + "list may not allow it")
        }
        return codes.map { MQTTQoS(rawValue: $0) ?? .atLeastOnce }
    }

    /// Subscribes to one topic filter, as ``subscribe(to:)``.
    @discardableResult
    public func subscribe(to filter: String, qos: MQTTQoS = .atLeastOnce) async throws(MQTTError) -> MQTTQoS {
        try await subscribe(to: [(filter, qos)]).first ?? qos
    }

    /// Ends subscriptions, and waits for the broker's answer.
    ///
    /// Messages in transit may still arrive. The subscriptions are not restored later, whatever the broker answers.
    ///
    /// - Throws: as ``subscribe(to:)``.
    public func unsubscribe(from filters: [String]) async throws(MQTTError) {
        for filter in filters { try MQTTTopic.check(filter: filter) }
        _ = try await request(filters) { $0.unsubscribe($1, $2) }
    }

    /// Sends as many packets as needed, each after the answer to the one before.
    private func request<Filter: Sendable>(
        _ filters: [Filter],
        _ send: @escaping @Sendable (ConnectionKeeper, [Filter], @escaping ConnectionHandler.RequestHandler) -> Void
    ) async throws(MQTTError) -> [UInt8] {
        var codes: [UInt8] = []
        for start in stride(from: 0, to: filters.count, by: OutgoingPacket.maximumFilters) {
            let some = Array(filters[start...].prefix(OutgoingPacket.maximumFilters))
            let answer = Outcome<Result<[UInt8], MQTTError>>()
            eventLoop.execute { [keeper] in send(keeper.value, some) { answer.resolve($0) } }
            guard let result = await answer.value() else {
                throw MQTTError(.cancelled, "the task that waited for the broker's answer was cancelled")
            }
            codes += try result.get()
        }
        return codes
    }
}
