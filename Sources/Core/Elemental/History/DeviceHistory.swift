public import ElementalWire
import NIOCore
import Support

/// Where the values of an element's history begin.
public enum HistoryBeginning: Sendable, Hashable {
    /// With the oldest value that the service keeps.
    case oldest
    /// With the first value that was measured at this time of this machine's clock or later.
    case time(MeasurementTime)
    /// With this many of the newest values.
    case newest(Int)
    /// After a value that was received earlier.
    case position(HistoryPosition)
}

/// A value or a gap of an element's history. They come in order.
public enum HistoryItem<Value: Sendable>: Sendable {
    /// A value.
    case value(HistoryValue<Value>)
    /// Values that are missing here.
    case gap(HistoryGap)
}

/// A value of an element's history.
public struct HistoryValue<Value: Sendable>: Sendable {
    /// The value itself.
    public let value: Value
    /// When it was measured; `nil` if the two clocks have not been compared, or if the service's machine was restarted
    /// since and did not have the time of day.
    public let time: ReceivedTime?
    /// Whether the service already had it when the history was requested. Other values arrive as they are sent.
    public let isPast: Bool
    /// The position after this value, from which a later request can continue.
    public let position: HistoryPosition
    /// ``time`` as the service sent it: microseconds of its machine's clock.
    package let serviceTime: Int64?
}

/// The values of an element's history and those that follow, as an async sequence: see
/// ``ElementalDevice/history(of:from:follows:)``.
public struct HistoryValues<Value: Sendable>: AsyncSequence, Sendable {
    /// The error that an iteration throws.
    public typealias Failure = ElementalError

    let device: ElementalDevice
    let element: ElementDefinition
    let beginning: HistoryBeginning
    let follows: Bool
    let decode: @Sendable (UnsafeRawBufferPointer) -> Value?

    /// Returns an iterator, which starts from the beginning of the sequence.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Iterates over values and gaps. It requests some values whenever the ones before are consumed, so a slow consumer
    /// makes the service wait.
    public struct Iterator: AsyncIteratorProtocol {
        private let history: HistoryValues
        private var start: HistoryStart?
        private var items: [HistoryItem<Value>] = []
        private var index = 0
        /// Where the past ends: the number after the last value that the service had at the first request.
        private var pastEnd: UInt64?
        private var isPast = true
        private var isOver = false

        init(_ history: HistoryValues) {
            self.history = history
            if case .position(let position) = history.beginning { start = .position(position) }
        }

        /// Returns the next value or gap; `nil` when all were delivered and no new ones are wanted.
        ///
        /// - Throws: ``ElementalError`` as ``ElementalDevice/history(of:from:follows:)`` lists it.
        public mutating func next() async throws(ElementalError) -> HistoryItem<Value>? {
            try await next(isolation: nil)
        }

        /// Returns the next value or gap, as ``next()`` does. It stays on the caller's actor.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ElementalError) -> HistoryItem<Value>? {
            while index == items.count {
                if isOver { return nil }
                try await ask()
            }
            defer { index += 1 }
            return items[index]
        }

        private mutating func ask(isolation: isolated (any Actor)? = #isolation) async throws(ElementalError) {
            let waits = history.follows && !isPast
            take(
                try await history.device.ask(
                    for: history.element, from: start, or: history.beginning, waits: waits, again: pastEnd != nil))
        }

        private mutating func take(_ answer: HistoryAnswer) {
            (items, index) = (answer.gap.map { [.gap($0)] } ?? [], 0)
            // The numbers of an unknown position are those of another history.
            if pastEnd == nil || answer.gap == Self.unknownGap { pastEnd = answer.next }
            let end = pastEnd ?? 0
            var position = HistoryPosition(life: answer.life, number: answer.first - 1, check: answer.check)
            // All with one reading of the clock: with several, a value could get an earlier time than the one before
            // it.
            var times: [ReceivedTime?] = []
            _ = history.device.state.withLock { state in
                answer.forEach { time, _ in
                    times.append(time == HistoryAnswer.unknownTime ? nil : state.received(time))
                }
            }
            var rest = times[...]
            answer.forEach { time, bytes in
                let received = rest.popFirst() ?? nil
                let isPast = position.number + 1 < end
                guard isPast || history.follows else { return }
                position.number += 1
                position.check = HistoryPosition.check(bytes)
                guard let value = history.decode(bytes) else {
                    return items.append(.gap(HistoryGap(count: 1, maximumCount: 1)))
                }
                items.append(
                    .value(
                        HistoryValue(
                            value: value, time: received, isPast: isPast, position: position,
                            serviceTime: received.map { _ in time })))
            }
            isPast = position.number + 1 < end
            isOver = !isPast && !history.follows
            self.start = .position(position)
        }

        private static var unknownGap: HistoryGap { HistoryGap(count: nil, maximumCount: nil) }
    }
}

extension ElementalDevice {
    /// Returns the values of the element that the service keeps, in order, and those that follow. Each is delivered
    /// once, also if the element uses UDP, and across the device's reconnections. Missing values are reported as a gap.
    ///
    /// ```swift
    /// for try await item in device.history(of: Weather.temperature, from: .time(yesterday)) {
    ///     switch item {
    ///     case .value(let temperature): plot.add(temperature.value, temperature.time)
    ///     case .gap(let gap): plot.interrupt()
    ///     }
    /// }
    /// ```
    /// - Parameters:
    ///   - element: an element that has a ``ElementDefinition/history`` at the service.
    ///   - follows: whether new values follow after those of the past.
    /// - Throws: while iterating, ``ElementalError`` with the code ``ElementalError/Code/notAllowed`` if the service
    ///   keeps no history of the element, this client may not read it, or it has too many requests;
    ///   ``ElementalError/Code/notConnected`` when the device has ended; ``ElementalError/Code/timedOut`` if the
    ///   service has not sent a hello, or a time is requested and the two clocks have not been compared;
    ///   ``ElementalError/Code/cancelled``.
    public func history<Value>(
        of element: Element<Value>, from beginning: HistoryBeginning, follows: Bool = true
    ) -> HistoryValues<Value> {
        HistoryValues(device: self, element: element, beginning: beginning, follows: follows) { Value(wireBytes: $0) }
    }

    /// Returns the values of an element that is only known at run time, as ``history(of:from:follows:)`` does.
    public func anyHistory(
        of element: ElementDefinition, from beginning: HistoryBeginning, follows: Bool = true
    ) -> HistoryValues<ElementValue> {
        HistoryValues(device: self, element: element, beginning: beginning, follows: follows) {
            ElementValue(wireBytes: $0, type: element.type)
        }
    }

    fileprivate func start(of beginning: HistoryBeginning) async throws(ElementalError) -> HistoryStart {
        switch beginning {
        case .oldest: return .newest(.max)
        case .newest(let count): return .newest(UInt32(clamping: count))
        case .position(let position): return .position(position)
        case .time(let time):
            guard let peerTime = state.withLock({ $0.peerTime(of: time) }) else {
                throw ElementalError(
                    .timedOut, "\(name) has not told the time of its clock, so no time can be asked for")
            }
            return .time(peerTime)
        }
    }

    fileprivate func ask(
        for element: ElementDefinition, from start: HistoryStart?, or beginning: HistoryBeginning, waits: Bool,
        again: Bool
    ) async throws(ElementalError) -> HistoryAnswer {
        while true {
            let events = events()
            do throws(ElementalError) {
                try await waitForHello(isCertain: again)
                try await waitForClock()
                // Computed for each connection: the service's machine may have been restarted.
                let start = if let start { start } else { try await self.start(of: beginning) }
                // The connection may have been lost since.
                if again, hello == nil { continue }
                return try await askOnce(for: element, from: start, waits: waits)
            } catch {
                guard error.code == .notConnected, disconnectReason == nil else { throw error }
                try await waitForReconnection(events)
            }
        }
    }

    /// A client that does not need the catalogue is ready before the service's hello.
    ///
    /// - Parameter isCertain: whether the service has sent a hello before, so that another one is only late.
    private func waitForHello(isCertain: Bool) async throws(ElementalError) {
        while hello == nil {
            do throws(ElementalError) {
                _ = try await catalogue(timeout: .seconds(5))
            } catch {
                if hello != nil { return }
                if error.code == .notConnected || error.code == .cancelled { throw error }
                guard isConnected else {
                    throw ElementalError(.notConnected, "the connection was lost before \(name) said hello")
                }
                guard isCertain else {
                    throw ElementalError(
                        .timedOut,
                        "\(name) has not said hello: it is an older one, which keeps no values, or the network is slow")
                }
            }
        }
    }

    /// Without this, values arrive without their times. The first request for times may be queued after one ping, but
    /// is queued before a second one.
    private func waitForClock() async throws(ElementalError) {
        var pingCount = 0
        while pingCount < 2, clock == nil, hello?.features.isSuperset(of: [.clock, .ping]) == true {
            do throws(ElementalError) {
                _ = try await ping()
                pingCount += 1
            } catch {
                guard error.code == .timedOut else { throw error }
            }
        }
    }

    private func waitForReconnection(_ events: AsyncStream<DeviceEvent>) async throws(ElementalError) {
        for await event in events {
            switch event {
            case .didReconnect: return
            case .willReconnect: break
            case .disconnected(let reason):
                throw ElementalError(.notConnected, "the connection has ended: \(reason)")
            }
        }
        throw Task.isCancelled
            ? ElementalError(.cancelled, "the wait for values was cancelled")
            : ElementalError(.notConnected, "the connection has ended")
    }

    private func askOnce(
        for element: ElementDefinition, from start: HistoryStart, waits: Bool
    ) async throws(ElementalError) -> HistoryAnswer {
        guard hello?.features.contains(.history) == true else {
            throw ElementalError(.notAllowed, "\(name) keeps no values; ask it for the newest one only")
        }
        let outcome = Outcome<Result<HistoryAnswer, ElementalError>>()
        let token = state.withLock { $0.historyRequests.add(outcome) }
        defer { _ = state.withLock { $0.historyRequests.take(token) } }
        let request = HistoryRequest(token: token, element: element.id, from: start, waits: waits)
        do throws(SendRefusal) {
            let connection = try outbound.withLock { outbound throws(SendRefusal) in
                try outbound.appendRequest(.history, request.wireBytes, over: .tcp)
            }
            connection?.wake()
        } catch {
            throw error.error(for: element, length: 0, to: name)
        }
        guard let answer = await outcome.value() else {
            cancel(request)
            throw ElementalError(.cancelled, "the wait for values was cancelled")
        }
        switch try answer.get().refusal {
        case nil: return try answer.get()
        case .unknown:
            throw ElementalError(.notAllowed, "\(name) keeps no values of '\(element.name)' for this client")
        case .tooMany: throw ElementalError(.notAllowed, "\(name) has too many requests of this client")
        }
    }

    private func cancel(_ request: HistoryRequest) {
        var request = request
        request.isCancelled = true
        let connection = try? outbound.withLock { try $0.appendRequest(.history, request.wireBytes, over: .tcp) }
        (connection ?? nil)?.wake()
    }

    func take(_ answer: HistoryAnswer) {
        state.withLock { $0.historyRequests.take(answer.token) }?.resolve(.success(answer))
    }
}
