public import ElementalWire
import NIOCore
import Support

extension ElementalDevice {
    /// Measures a round trip: sends a ping and waits for the pong.
    ///
    /// - Parameters:
    ///   - transport: the transport of the ping and its pong.
    ///   - size: the length of the ping's value in bytes, 8...1,024.
    ///   - timeout: how long to wait.
    /// - Returns: the time from the call to the pong's arrival.
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/notConnected``,
    ///   ``ElementalError/Code/udpUnavailable``, ``ElementalError/Code/timedOut``, ``ElementalError/Code/cancelled``;
    ///   ``ElementalError/Code/notAllowed`` if the peer has not announced that it answers pings.
    public func ping(
        over transport: Transport = .tcp, size: Int = 8, timeout: Duration = .seconds(5)
    ) async throws(ElementalError) -> Duration {
        precondition((8...SystemElement.maximumPingByteCount).contains(size), "a ping has 8 to 1,024 bytes")
        guard hello?.features.contains(.ping) == true else {
            throw ElementalError(
                .notAllowed, "\(name) has not said that it answers pings; an older ElementalController does not")
        }
        let cancelled = ElementalError(.cancelled, "the ping was cancelled")
        if Task.isCancelled { throw cancelled }
        let start = ContinuousClock.now
        let outcome = Outcome<Result<ContinuousClock.Instant, ElementalError>>()
        let token = state.withLock { $0.pings.add(outcome) }
        defer { _ = state.withLock { $0.pings.take(token) } }
        var bytes = [UInt8](repeating: 0, count: size)
        withUnsafeBytes(of: token.littleEndian) { bytes.replaceSubrange(0..<8, with: $0) }
        do throws(SendRefusal) {
            let connection = try outbound.withLock { outbound throws(SendRefusal) in
                try outbound.appendRequest(.ping, bytes, over: transport)
            }
            connection?.wake()
        } catch {
            throw error.error(for: nil, length: size, to: name)
        }
        let answer = await outcome.value(within: TimeAmount(timeout), on: eventLoop) {
            .failure(ElementalError(.timedOut, "no answer to a ping within \(timeout)"))
        }
        guard let answer else { throw cancelled }
        let time = try answer.get() - start
        note(roundTrip: time)
        return time
    }

    /// A pong's first 8 bytes are the ping's token.
    func answerPing(_ value: UnsafeRawBufferPointer) {
        guard value.count >= 8, let token = UInt64(wireBytes: UnsafeRawBufferPointer(rebasing: value[..<8])) else {
            return
        }
        state.withLock { $0.pings.take(token) }?.resolve(.success(.now))
    }

    /// Fails all pings and history requests that wait for an answer.
    func failRequests(_ error: ElementalError) {
        let (pings, histories) = state.withLock { ($0.pings.takeAll(), $0.historyRequests.takeAll()) }
        for ping in pings { ping.resolve(.failure(error)) }
        for history in histories { history.resolve(.failure(error)) }
    }

    func note(roundTrip: Duration) {
        state.withLock { state in
            state.inbound.statistics.roundTripTime = roundTrip
            state.inbound.roundTripCount += 1
        }
    }
}
