public import ElementalWire
import NIOCore
import Support

/// Where the values of an element's history begin.
public enum HistoryBeginning: Sendable, Hashable {
    /// With the oldest value that the service keeps.
    case oldest
    /// With the first value that was measured at this time, by this machine's clock, or later.
    case time(MeasurementTime)
    /// With so many values before the newest.
    case newest(Int)
    /// Behind a value that was received earlier.
    case position(HistoryPosition)
}

/// What an element's history tells, in order.
public enum HistoryItem<Value: Sendable>: Sendable {
    case value(HistoryValue<Value>)
    /// Values that are missing here.
    case gap(HistoryGap)
}

/// A value of an element's history.
public struct HistoryValue<Value: Sendable>: Sendable {
    public let value: Value
    /// When it was measured; `nil` if the two clocks are not compared, or if the service's machine was started since and
    /// did not know the time of day.
    public let time: ReceivedTime?
    /// Whether it was there when the history was asked for. Afterwards values come when they are sent.
    public let isPast: Bool
    /// Where to go on later, behind this value.
    public let position: HistoryPosition
    /// ``time`` as the service told it: microseconds of its machine's clock.
    package let serviceTime: Int64?
}

/// The values of an element's history and those that follow, as an async sequence: see ``ElementalDevice/history(of:from:follows:)``.
public struct HistoryValues<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = ElementalError

    let device: ElementalDevice
    let element: ElementDefinition
    let beginning: HistoryBeginning
    let follows: Bool
    let decode: @Sendable (UnsafeRawBufferPointer) -> Value?

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// Asks for some values whenever the ones before are consumed, so a slow consumer makes the service wait.
    public struct Iterator: AsyncIteratorProtocol {
        private let history: HistoryValues
        private var start: HistoryStart?
        private var items: [HistoryItem<Value>] = []
        private var index = 0
        /// Where the past ends: with what there was when the history was asked for first.
        private var pastEnd: UInt64?
        private var isPast = true
        private var isOver = false

        init(_ history: HistoryValues) {
            self.history = history
            if case .position(let position) = history.beginning { start = .position(position) }
        }

        /// The next value or gap; `nil` when all were delivered and none are to follow.
        ///
        /// - Throws: ``ElementalError`` as ``ElementalDevice/history(of:from:follows:)`` says.
        public mutating func next() async throws(ElementalError) -> HistoryItem<Value>? {
            try await next(isolation: nil)
        }

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
            // Numbers of a position that the service does not know are those of another history.
            if pastEnd == nil || answer.gap == Self.unknownGap { pastEnd = answer.next }
            let end = pastEnd ?? 0
            var position = HistoryPosition(life: answer.life, number: answer.first - 1, check: answer.check)
            // By one reading of the clock: by several, a value could come before an earlier one.
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
    /// The values of the element that the service keeps, in order, and those that follow, each once: over an element of UDP
    /// too, and across the device's reconnections. What is missing comes as a gap.
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
    ///   - element: with a ``ElementDefinition/history`` at the service.
    ///   - follows: whether new values follow when those of the past were delivered.
    /// - Throws: while iterating, ``ElementalError`` with the code ``ElementalError/Code/notAllowed`` if the service keeps no
    ///   history of the element or this client may not read it, ``ElementalError/Code/notConnected`` when the device has ended,
    ///   ``ElementalError/Code/timedOut`` if the service has not said hello, or a time is asked for and the two clocks are not
    ///   compared, ``ElementalError/Code/cancelled``.
    public func history<Value>(
        of element: Element<Value>, from beginning: HistoryBeginning, follows: Bool = true
    ) -> HistoryValues<Value> {
        HistoryValues(device: self, element: element, beginning: beginning, follows: follows) { Value(wireBytes: $0) }
    }

    /// The same of an element known at run time.
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
                // Another connection may be to a machine that was started anew.
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
    /// - Parameter isCertain: whether the service has said hello before, so that it only takes long now.
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

    /// Otherwise values come without their times. The first request for times may be queued behind one ping, and is queued before
    /// a second one.
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
