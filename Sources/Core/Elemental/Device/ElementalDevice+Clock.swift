public import ElementalWire
import Support

/// How the other end's clock differs from this machine's. Both run since each machine's start, also while it sleeps, and
/// setting the time of day changes neither.
public struct ClockDifference: Sendable, Hashable {
    /// By how much the other clock is ahead, at the moment of asking.
    public let offset: Duration
    /// The most by which ``offset`` is wrong, if the other end is honest: mostly half the shortest round trip, at most all of
    /// it, and 0.5 ms for each second since then.
    public let error: Duration
    /// By how many millionths the other clock runs faster, -500 to 500; 0 before times were exchanged for
    /// 16 s.
    public let drift: Double
}

extension ElementalDevice {
    /// How the other end's clock differs from this machine's; `nil` before the ends have exchanged times, and if the
    /// other end does not (``Hello/Features/clock``). After one of the machines has slept it is `nil` too, until times are
    /// exchanged again.
    ///
    /// Times are exchanged eight times when a client has connected, and then once a second while an element is
    /// ``ElementDefinition/timed``.
    public var clock: ClockDifference? {
        guard let reading = state.withLock({ $0.clock?.reading }) else { return nil }
        let (offset, error) = reading.offset(at: MachineClock.time)
        return ClockDifference(
            offset: .nanoseconds(offset), error: .nanoseconds(error), drift: reading.drift * 1_000_000)
    }
}

extension ElementalDevice {
    /// When the newest value received for a timed element was measured; within a handler, the value that it was called
    /// with. `nil` if the other end does not say, and before the ends have exchanged times: the values that a service sends
    /// to a new client come before that. Outside a handler it need not be the time of the value that ``value(of:)-(_)`` has
    /// given a moment before.
    public func time(of element: ElementDefinition) -> ReceivedTime? {
        guard element.timed else { return nil }
        return state.withLock { state in state.inbound.times[element.id].flatMap(state.received) }
    }

    /// Calls `handler` on the connection's event loop with every value received for the element and when it was measured,
    /// as ``onValue(of:perform:)-(_,(Value,ElementalDevice)->Void)`` and ``time(of:)`` do.
    @discardableResult
    public func onTimedValue<Value>(
        of element: Element<Value>, perform handler: @escaping @Sendable (Value, ReceivedTime?, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        onValue(of: element) { value, device in handler(value, device.time(of: element), device) }
    }

    /// The values of the element, each with when it was measured, as an async sequence; see ``values(of:buffering:)`` and
    /// ``time(of:)``.
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

    /// Sends a value that was measured at a given time, if the element is ``ElementDefinition/timed``.
    ///
    /// - Parameter time: when it was measured; `nil` for this moment.
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

    /// Sends a value that was measured at a given time and whose type is only known at run time.
    ///
    /// - Parameter time: when it was measured; `nil` for this moment.
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
    /// What is known of the other end's clock now.
    package var clockReading: ClockReading? {
        state.withLock { $0.clock }.map { ClockReading(clock: $0, day: $0.anchor == 0 ? MachineClock.day : $0.anchor) }
    }
}

extension DeviceState {
    /// The peer's clock as it was read last, unless this machine has slept since.
    fileprivate var clock: KnownClock? {
        guard let clock = identity.clock, !clock.isOver(MachineClock.slept) else { return nil }
        return clock
    }

    /// Times of the peer's clock are below this, so that nanoseconds of them never overflow.
    private static let timeLimit = ClockFrame.timeLimit / 1000
    /// 2100, in seconds since 1970.
    private static let lastSecond: Int64 = 4_102_444_800

    /// Whether a time of the peer's clock, in microseconds, lies between 1970 and 2100 by this machine's time of day, as
    /// far as that can be told.
    func isPlausible(_ time: Int64) -> Bool {
        guard (-Self.timeLimit...Self.timeLimit).contains(time) else { return false }
        guard let reading = clock?.reading else { return true }
        let ago = MachineClock.time &- reading.own(of: time * 1000).time
        let seconds = (Int64(clamping: WallClock.nanoseconds) &- ago) / 1_000_000_000
        return (0..<Self.lastSecond).contains(seconds)
    }

    /// A time of this machine's clock by the peer's, in microseconds.
    func peerTime(of time: MeasurementTime) -> Int64? {
        guard let reading = clock?.reading else { return nil }
        let limit = Self.timeLimit
        return min(max(time.microseconds, -limit), limit) + reading.offset(at: MachineClock.time).offset / 1000
    }

    /// A time of the peer's clock, in microseconds, by this machine's clock.
    func received(_ time: Int64) -> ReceivedTime? {
        guard let clock, isPlausible(time) else { return nil }
        let (own, error) = clock.reading.own(of: time * 1000)
        // Both ends leave out what is less than a microsecond.
        return ReceivedTime(
            time: MeasurementTime(microseconds: own / 1000), error: .nanoseconds(error) + .microseconds(2),
            secondsSince1970: clock.anchor == 0 ? nil : Double((own &+ clock.anchor) / 1000) / 1_000_000)
    }
}
