public import ElementalWire
import Support

extension ElementalDevice {
    /// Sends a value, suspending while the queue is above the high watermark. It stays on the caller's actor: while
    /// there is room, there is no thread hop.
    ///
    /// - Throws: ``ElementalError`` as ``send(_:to:)-(Value,Element<Value>)`` does, except that it waits instead of
    ///   throwing ``ElementalError/Code/queueFull``; ``ElementalError/Code/cancelled`` if the task is cancelled.
    @inlinable
    public func sendWhenReady<Value>(
        _ value: Value, to element: Element<Value>, isolation: isolated (any Actor)? = #isolation
    ) async throws(ElementalError) {
        let length = value.wireByteCount
        if !needsToWait(for: length), try hasSent({ () throws(ElementalError) in try send(value, to: element) }) {
            return
        }
        try await sendAfterWaiting(length, of: element.id) { () throws(ElementalError) in try send(value, to: element) }
    }

    /// Sends a value whose type is only known at run time, suspending while the queue is above the high watermark.
    ///
    /// - Throws: as the typed form does, and ``ElementalError/Code/wrongType``.
    public func sendWhenReady(
        _ value: ElementValue, to element: ElementDefinition, isolation: isolated (any Actor)? = #isolation
    ) async throws(ElementalError) {
        let length = value.wireByteCount
        if !needsToWait(for: length), try hasSent({ () throws(ElementalError) in try send(value, to: element) }) {
            return
        }
        try await sendAfterWaiting(length, of: element.id) { () throws(ElementalError) in try send(value, to: element) }
    }

    /// - Returns: `false` if the queue is full.
    @inlinable
    func hasSent(_ send: () throws(ElementalError) -> Void) throws(ElementalError) -> Bool {
        do throws(ElementalError) {
            try send()
            return true
        } catch {
            guard error.code == .queueFull else { throw error }
            return false
        }
    }

    /// Waits and sends until it succeeds: another sender may use the room first.
    @usableFromInline
    func sendAfterWaiting(
        _ length: Int, of id: Int8, isolation: isolated (any Actor)? = #isolation,
        _ send: () throws(ElementalError) -> Void
    ) async throws(ElementalError) {
        repeat {
            try await wait(for: length, of: id)
        } while try !hasSent(send)
    }

    /// A cancelled task waits too, so that the wait throws ``ElementalError/Code/cancelled``.
    @usableFromInline
    func needsToWait(for length: Int) -> Bool {
        congestion.isStream || length > Envelope.wholeByteCount && congestion.isPieces || Task.isCancelled
    }

    /// Returns immediately if fewer than ``DeviceLimits/readyQueueByteCount`` bytes are unsent; otherwise waits until
    /// an eighth of that is left.
    ///
    /// - Parameter byteCount: the length of the value to be sent. A value of more than 128 KiB waits for those before
    ///   it; a smaller one does not wait for large ones, because it is sent between their pieces.
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/notConnected`` if the connection ends, or
    ///   ``ElementalError/Code/cancelled`` if the task is cancelled.
    public func waitForRoom(
        for byteCount: Int = 0, isolation: isolated (any Actor)? = #isolation
    ) async throws(ElementalError) {
        if needsToWait(for: byteCount) { try await wait(for: byteCount, of: nil) }
    }

    /// Waits until everything queued has been sent, and the peer has acknowledged the values that were sent in pieces.
    /// While this end is paused it reads no acknowledgements and does not wait for them.
    ///
    /// - Throws: ``ElementalError`` with the code ``ElementalError/Code/notConnected`` if the connection ends, or
    ///   ``ElementalError/Code/cancelled`` if the task is cancelled.
    public func waitUntilSent(isolation: isolated (any Actor)? = #isolation) async throws(ElementalError) {
        try await wait { _ in .nothingUnsent }
    }

    @usableFromInline
    func wait(
        for length: Int, of id: Int8?, isolation: isolated (any Actor)? = #isolation
    ) async throws(ElementalError) {
        try await wait { $0.need(for: length, of: id) }
    }

    private func wait(
        isolation: isolated (any Actor)? = #isolation, _ need: (Outbound<Connection>) -> RoomNeed
    ) async throws(ElementalError) {
        let outcome = Outcome<ElementalError?>()
        let token: UInt64?
        do throws(SendRefusal) {
            token = try outbound.withLock { outbound throws(SendRefusal) in
                _ = try outbound.admitAnything()
                let need = need(outbound)
                // A cancelled task always becomes a waiter, and then throws `cancelled`.
                if !Task.isCancelled, outbound.isMet(need) { return nil }
                outbound.lastWaiter += 1
                outbound.waiters[outbound.lastWaiter] = RoomWaiter(outcome: outcome, need: need)
                congestion.set(need)
                return outbound.lastWaiter
            }
        } catch {
            throw error.error(for: nil, length: 0, to: name)
        }
        guard let token else { return }
        guard let error = await outcome.value() else {
            outbound.withLock { _ = $0.waiters.removeValue(forKey: token) }
            throw ElementalError(.cancelled, "the wait for the queue was cancelled")
        }
        if let error { throw error }
    }
}
