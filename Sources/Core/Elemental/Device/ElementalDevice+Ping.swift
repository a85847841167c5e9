public import ElementalWire
import NIOCore

extension ElementalDevice {
    /// Measures a round trip: sends a ping and waits for the pong.
    ///
    /// - Parameters:
    ///   - transport: which way the ping and its pong travel.
    ///   - size: the bytes of the ping's value, 8...1,024.
    ///   - timeout: how long to wait.
    /// - Returns: the time from the call to the pong's arrival.
    /// - Throws: ``ElementalError`` with one of the codes ``ElementalError/Code/notConnected``,
    ///   ``ElementalError/Code/udpUnavailable``, ``ElementalError/Code/timedOut``, ``ElementalError/Code/cancelled``;
    ///   ``ElementalError/Code/notAllowed`` if the other end has not said that it answers pings.
    public func ping(
        over transport: Transport = .tcp, size: Int = 8, timeout: Duration = .seconds(5)
    ) async throws(ElementalError) -> Duration {
        precondition((8...SystemElement.maximumPingByteCount).contains(size), "a ping has 8 to 1,024 bytes")
        guard hello?.features.contains(.ping) == true else {
            throw ElementalError(
                .notAllowed, "\(name) has not said that it answers pings; an older ElementalController does not")
        }
        let token = pings.next()
        var bytes = [UInt8](repeating: 0, count: size)
        withUnsafeBytes(of: token.littleEndian) { bytes.replaceSubrange(0..<8, with: $0) }
        let start = ContinuousClock.now
        do {
            let end = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    pings.wait(for: token, continuation)
                    let deadline = eventLoop.scheduleTask(in: TimeAmount(timeout)) { [pings] in
                        pings.fail(token, ElementalError(.timedOut, "no answer to a ping within \(timeout)"))
                    }
                    pings.set(deadline, for: token)
                    do {
                        try sendPing(bytes, over: transport)
                    } catch {
                        pings.fail(token, error)
                    }
                    if Task.isCancelled { pings.fail(token, CancellationError()) }
                }
            } onCancel: {
                pings.fail(token, CancellationError())
            }
            note(roundTrip: end - start)
            return end - start
        } catch let error as ElementalError {
            throw error
        } catch {
            throw ElementalError(.cancelled, "the ping was cancelled")
        }
    }

    func note(roundTrip: Duration) { inbound.withLock { $0.statistics.roundTripTime = roundTrip } }

    private func sendPing(_ bytes: [UInt8], over transport: Transport) throws(ElementalError) {
        do throws(SendRefusal) {
            let connection = try outbound.withLock { outbound throws(SendRefusal) in
                try outbound.appendPing(bytes, over: transport)
            }
            connection?.wake()
        } catch {
            throw error.error(for: nil, length: bytes.count, to: name)
        }
    }
}
