import TestSupport

@testable import SerialLink

/// Two links on a simulated line of 115,200 baud, in steps of a millisecond, whose programs write numbered bytes as fast
/// as there is room, and keep account of what arrived.
final class SimulatedLink {
    /// The numbers of both ends that make a session what it is.
    struct Session: Hashable {
        let tags: [UInt16]
    }

    /// One end, with the program behind it.
    final class End {
        var link: SerialLink
        /// How many bytes its program wrote in each session.
        var written: [Session: Int] = [:]
        var received: [Session: Int] = [:]
        var sessionCount = 0
        var writes = true
        /// The most that is written in a millisecond.
        var pace = Int.max

        init(_ link: consuming SerialLink) { self.link = link }

        var receivedCount: Int { received.values.reduce(0, +) }
        var isOpen: Bool { link.isOpen }
    }

    let a: End
    let b: End
    var aToB = FaultyLine()
    var bToA = FaultyLine()
    var random: SeededGenerator
    private(set) var now = 0
    /// What the ends' clocks are ahead, so that they wrap.
    var clockOffset: UInt32
    /// What was received that is not the next byte written.
    private(set) var violations: [String] = []
    private var credit = 0.0
    private var configuration: SerialLink.Configuration
    private var starts: UInt32 = 0

    /// The bytes of 115,200 baud in a millisecond.
    static let bytesPerMillisecond = 11.52

    init(seed: UInt64, _ configuration: SerialLink.Configuration = .init(), clockOffset: UInt32 = 0) {
        random = SeededGenerator(seed: seed)
        a = End(SerialLink(configuration, seed: UInt32(truncatingIfNeeded: seed)))
        b = End(SerialLink(configuration, seed: UInt32(truncatingIfNeeded: seed) &+ 99))
        self.configuration = configuration
        self.clockOffset = clockOffset
    }

    static func byte(_ position: Int, _ isFromA: Bool) -> UInt8 {
        UInt8(truncatingIfNeeded: (position &* 0x9E37_79B1) >> 13) & (isFromA ? 0xFF : 0x0F)
    }

    var clock: UInt32 { UInt32(truncatingIfNeeded: now) &+ clockOffset }
    func run(_ milliseconds: Int) { for _ in 0..<milliseconds { step() } }

    /// Runs until both programs have all that the other wrote; false if that takes longer.
    func settle(within milliseconds: Int) -> Bool {
        a.writes = false
        b.writes = false
        for _ in 0..<milliseconds {
            step()
            if isSettled { return true }
        }
        return false
    }

    /// Time passes in steps of 900 ms, in which only a few packets go: nothing is to be written.
    func skipQuietTime(_ milliseconds: Int) {
        let end = now + milliseconds
        while now < end {
            now += 900
            for _ in 0..<4 { step() }
        }
    }

    private var isSettled: Bool {
        let session = Self.session(a.link, true)
        guard a.link.isOpen, b.link.isOpen, session == Self.session(b.link, false) else { return false }
        return a.link.isIdle && b.link.isIdle && a.received[session, default: 0] == b.written[session, default: 0]
            && b.received[session, default: 0] == a.written[session, default: 0]
    }

    private static func session(_ link: borrowing SerialLink, _ isA: Bool) -> Session {
        Session(tags: isA ? [link.ownTag, link.peerTag] : [link.peerTag, link.ownTag])
    }

    /// The board at `b` starts anew.
    func resetB(sameSeed: Bool = false) {
        starts += 1
        b.link = SerialLink(configuration, seed: sameSeed ? 1 : 1_000_003 &* starts)
    }

    func resetA() {
        starts += 1
        a.link = SerialLink(configuration, seed: 1_000_003 &* starts)
    }

    private func step() {
        now += 1
        let clock = clock
        Self.write(a, true)
        Self.write(b, false)
        credit += Self.bytesPerMillisecond
        while credit >= 1 {
            credit -= 1
            if let byte = a.link.nextByte(at: clock) { aToB.send(byte, at: now, &random) }
            if let byte = b.link.nextByte(at: clock) { bToA.send(byte, at: now, &random) }
            while let byte = aToB.receive(at: now) { take(b.link.receive(byte, at: clock), atA: false) }
            while let byte = bToA.receive(at: now) { take(a.link.receive(byte, at: clock), atA: true) }
        }
        take(a.link.tick(at: clock), atA: true)
        take(b.link.tick(at: clock), atA: false)
    }

    private static func write(_ end: End, _ isA: Bool) {
        guard end.writes, end.link.isOpen else { return }
        let session = session(end.link, isA)
        let written = end.written[session, default: 0]
        let count = min(end.link.room, end.pace)
        guard count > 0 else { return }
        let bytes = (written..<written + count).map { byte($0, isA) }
        end.written[session] = written + bytes.withUnsafeBytes { end.link.write($0) }
    }

    private func take(_ event: SerialLink.Event?, atA isA: Bool) {
        switch event {
        case .opened: if isA { a.sessionCount += 1 } else { b.sessionCount += 1 }
        case .bytes(let bytes):
            let session = isA ? Self.session(a.link, true) : Self.session(b.link, false)
            var position = isA ? a.received[session, default: 0] : b.received[session, default: 0]
            let written = isA ? b.written[session, default: 0] : a.written[session, default: 0]
            for byte in bytes {
                if byte != Self.byte(position, !isA) || position >= written {
                    violations.append("byte \(position) of session \(session.tags) at \(isA ? "a" : "b"), at \(now) ms")
                }
                position += 1
            }
            if isA { a.received[session] = position } else { b.received[session] = position }
        case .closed, nil: break
        }
    }
}
