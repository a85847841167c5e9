import ElementalWire

/// One end's part in exchanging times: takes frames and readings of this machine's clocks, and returns frames. It has
/// no timers.
struct ClockExchange {
    /// How many requests a client sends after it has connected.
    static let firstCount = 8
    /// How long an answer may take, in nanoseconds, before the client asks again.
    private static let patience: Int64 = 10_000_000_000
    /// The minimum sleep that counts, in milliseconds: the two clocks are not read at the same moment.
    private static let leastSleep = 10

    private var clock = PeerClock()
    /// A client's request that is not answered yet.
    private var asked: (nonce: UInt64, time: Int64)?
    /// On a client: when it sent its last request and received the answer. The next request contains both times.
    private var told: (sent: Int64, returned: Int64)?
    /// On a service: when it received and answered the last request.
    private var answered: Int64?
    private var ownSleep: UInt32?
    private var peerSleep: UInt32?
    /// How many requests were answered.
    private(set) var count = 0
    private var ownAnchor: Int64 = 0
    private var peerAnchor: Int64 = 0

    var reading: PeerClockReading? { clock.reading }

    /// The newest reading; `nil` before the first exchange.
    var known: KnownClock? {
        clock.reading.map { KnownClock(reading: $0, anchor: anchor(at: $0.time), slept: ownSleep ?? 0) }
    }

    /// Nanoseconds to add to this machine's clock for the time since 1970, by its own time of day or else the peer's; 0
    /// if neither is synchronised.
    func anchor(at time: Int64) -> Int64 {
        guard ownAnchor == 0, peerAnchor != 0, let reading else { return ownAnchor }
        return peerAnchor &+ reading.offset(at: time).offset
    }

    /// A client's next request; `nil` while it waits for an answer.
    mutating func request(at now: MachineClock, nonce: UInt64) -> ClockFrame? {
        if let asked, now.time - asked.time < Self.patience { return nil }
        note(now)
        asked = (nonce, now.time)
        // The service assigns these times to its last answer.
        let told = self.told.take()
        return ClockFrame(
            .request, nonce: nonce, first: told?.sent ?? 0, second: told?.returned ?? 0, anchor: now.anchor,
            slept: now.slept)
    }

    /// Takes a request of the client and returns the answer.
    mutating func answer(_ request: ClockFrame, at now: MachineClock) -> ClockFrame {
        note(now, request)
        // `first` and `second`: when the client sent its previous request and received the answer. This end received
        // that request and answered it at one moment.
        if let answered, request.second != 0 {
            clock.add(
                PeerClock.Exchange(
                    sent: answered, received: request.second, answered: request.first, returned: answered))
        }
        answered = now.time
        return ClockFrame(
            .answer, nonce: request.nonce, first: now.time, second: now.time, anchor: now.anchor, slept: now.slept)
    }

    /// Takes the service's answer.
    ///
    /// - Returns: whether it answers the last request.
    mutating func take(_ answer: ClockFrame, at now: MachineClock) -> Bool {
        guard let request = asked, request.nonce == answer.nonce else { return false }
        asked = nil
        count += 1
        // A request from before a sleep has useless times.
        if note(now, answer) { return true }
        let exchange = PeerClock.Exchange(
            sent: request.time, received: answer.first, answered: answer.second, returned: now.time)
        guard clock.add(exchange) else { return false }
        told = (request.time, now.time)
        return true
    }

    /// - Returns: whether one of the machines has slept, so that the estimate is reset.
    @discardableResult
    private mutating func note(_ now: MachineClock, _ frame: ClockFrame? = nil) -> Bool {
        let hasSlept = Self.differs(ownSleep, now.slept) || frame.map { Self.differs(peerSleep, $0.slept) } ?? false
        (ownSleep, ownAnchor) = (now.slept, now.anchor)
        if let frame {
            peerSleep = frame.slept
            peerAnchor = frame.anchor
        }
        if hasSlept {
            clock.reset()
            (told, answered) = (nil, nil)
        }
        return hasSlept
    }

    fileprivate static func differs(_ before: UInt32?, _ now: UInt32) -> Bool {
        before.map { abs(Int(Int32(bitPattern: now &- $0))) >= leastSleep } ?? false
    }
}

/// The difference between the peer's clock and this machine's, valid until this machine sleeps.
struct KnownClock {
    let reading: PeerClockReading
    /// Nanoseconds to add to this machine's clock for the time since 1970; 0 if neither end's time of day is
    /// synchronised.
    let anchor: Int64
    fileprivate let slept: UInt32

    fileprivate init(reading: PeerClockReading, anchor: Int64, slept: UInt32) {
        (self.reading, self.anchor, self.slept) = (reading, anchor, slept)
    }

    /// Whether the machine has slept since. Another oscillator keeps its clock during a sleep.
    func isOver(_ slept: UInt32) -> Bool { ClockExchange.differs(self.slept, slept) }
}
