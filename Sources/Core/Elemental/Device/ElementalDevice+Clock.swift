public import ElementalWire
import Support

/// The difference between the peer's clock and this machine's. Both clocks count from the start of their machine and
/// run on while it sleeps; setting the time of day changes neither.
public struct ClockDifference: Sendable, Hashable {
    /// How far the peer's clock is ahead, at the moment of reading.
    public let offset: Duration
    /// The maximum error of ``offset``, if the peer is honest: usually half the shortest round trip, at most all of it,
    /// plus 0.5 ms for each second since then.
    public let error: Duration
    /// How much faster the peer's clock runs, in parts per million, -500...500; 0 until times have been exchanged for
    /// 16 s.
    public let drift: Double
}

extension ElementalDevice {
    /// The difference between the peer's clock and this machine's. It is `nil` until the two ends have exchanged times,
    /// again after one of the machines has slept, and always if the peer does not support it
    /// (``Hello/Features/clock``).
    ///
    /// A client exchanges times eight times after it has connected, and then once a second if an element is
    /// ``ElementDefinition/timed`` or has a ``ElementDefinition/history``.
    public var clock: ClockDifference? {
        guard let reading = state.withLock({ $0.clock?.reading }) else { return nil }
        let (offset, error) = reading.offset(at: MachineClock.time)
        return ClockDifference(
            offset: .nanoseconds(offset), error: .nanoseconds(error), drift: reading.drift * 1_000_000)
    }
}

extension ElementalDevice {
    /// The time at which the newest received value of a timed element was measured; within a handler, that of the value
    /// passed to it. `nil` if the peer sends no times, and until the two ends have exchanged times: the values that a
    /// service sends to a new client arrive before that. Outside a handler, a newer value may have arrived since the
    /// call of ``value(of:)-(_)``.
    public func time(of element: ElementDefinition) -> ReceivedTime? {
        guard element.timed else { return nil }
        return state.withLock { state in state.inbound.times[element.id].flatMap(state.received) }
    }

    /// Calls `handler` on the connection's event loop with every value received for the element and the time at which
    /// it was measured. See ``onValue(of:perform:)-(_,(Value,ElementalDevice)->Void)`` and ``time(of:)``.
    @discardableResult
    public func onTimedValue<Value>(
        of element: Element<Value>, perform handler: @escaping @Sendable (Value, ReceivedTime?, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        onValue(of: element) { value, device in handler(value, device.time(of: element), device) }
    }

    /// The values of the element, each with the time at which it was measured, as an async sequence. See
    /// ``values(of:buffering:)`` and ``time(of:)``.
    public func timedValues<Value>(
        of element: Element<Value>, buffering: StreamBuffering = .waiting
    ) -> ElementValues<(value: Value, time: ReceivedTime?)> {
        stream(buffering) { stream in
            addHandler(for: element.id) { bytes, device in
                guard let value = Value(received: bytes) else { return device.noteUndecodable(element.id) }
                let time = device.time(of: element.definition)
                stream.add((value, time), wireByteCount: bytes.bytes.count, isDatagram: bytes.isDatagram)
            }
        }
    }

    /// Sends a value and, if the element is ``ElementDefinition/timed``, the time at which it was measured.
    ///
    /// - Parameter time: when the value was measured; `nil` for now.
    /// - Throws: ``ElementalError`` as ``send(_:to:)-(Value,Element<Value>)`` does.
    public func send<Value>(
        _ value: Value, to element: Element<Value>, at time: MeasurementTime?
    ) throws(ElementalError) {
        if element.hasLimits, !element.allows(value) {
            throw Self.outOfRange(value.elementValue, element.definition)
        }
        let failure = try value.withWireBytes { enqueue(element.definition, $0, at: time) }
        if let failure { throw failure }
    }

    /// Sends a value whose type is only known at run time and, if the element is timed, the time at which it was
    /// measured.
    ///
    /// - Parameter time: when the value was measured; `nil` for now.
    /// - Throws: ``ElementalError`` as ``send(_:to:)-(ElementValue,ElementDefinition)`` does.
    public func send(
        _ value: ElementValue, to element: ElementDefinition, at time: MeasurementTime?
    ) throws(ElementalError) {
        try Self.check(value, element)
        let failure = try value.withWireBytes { enqueue(element, $0, at: time) }
        if let failure { throw failure }
    }
}

extension ElementalDevice {
    /// A reading of the peer's clock as it is known now, and of this machine's time of day.
    package var clockReading: ClockReading? {
        state.withLock { $0.clock }.map { ClockReading(clock: $0, day: $0.anchor == 0 ? MachineClock.day : $0.anchor) }
    }
}

extension DeviceState {
    /// The last reading of the peer's clock; `nil` if this machine has slept since.
    fileprivate var clock: KnownClock? {
        guard let clock = identity.clock, !clock.isOver(MachineClock.slept) else { return nil }
        return clock
    }

    /// The maximum time of the peer's clock, in microseconds, so that it never overflows as nanoseconds.
    private static let timeLimit = ClockFrame.timeLimit / 1000
    /// The year 2100, in seconds since 1970.
    private static let lastSecond: Int64 = 4_102_444_800

    /// Whether a time of the peer's clock, in microseconds, lies between 1970 and 2100 by this machine's time of day.
    /// Before the clocks are compared, only ``timeLimit`` is checked.
    func isPlausible(_ time: Int64) -> Bool {
        guard (-Self.timeLimit...Self.timeLimit).contains(time) else { return false }
        guard let reading = clock?.reading else { return true }
        let ago = MachineClock.time &- reading.own(of: time * 1000).time
        let seconds = (Int64(clamping: WallClock.nanoseconds) &- ago) / 1_000_000_000
        return (0..<Self.lastSecond).contains(seconds)
    }

    /// Converts a time of this machine's clock to the peer's, in microseconds; `nil` before the clocks are compared.
    func peerTime(of time: MeasurementTime) -> Int64? {
        guard let reading = clock?.reading else { return nil }
        let limit = Self.timeLimit
        return min(max(time.microseconds, -limit), limit) + reading.offset(at: MachineClock.time).offset / 1000
    }

    /// Converts a time of the peer's clock, in microseconds, to this machine's.
    func received(_ time: Int64) -> ReceivedTime? {
        guard let clock, isPlausible(time) else { return nil }
        let (own, error) = clock.reading.own(of: time * 1000)
        // Each end rounds to whole microseconds.
        return ReceivedTime(
            time: MeasurementTime(microseconds: own / 1000), error: .nanoseconds(error) + .microseconds(2),
            secondsSince1970: clock.anchor == 0 ? nil : Double((own &+ clock.anchor) / 1000) / 1_000_000)
    }
}
