/// The identifiers that map datagrams to a service's devices: 1...254, 0 when none is left.
struct UDPIdentifiers {
    private var sessions: [Session?] = Array(repeating: nil, count: 256)
    private var last: UInt8 = 0

    /// Assigns the session a free identifier, cycling through all of them so that a late datagram of a disconnected
    /// device does not reach the next one.
    mutating func assign(to session: Session) -> UInt8 {
        for _ in 1...254 {
            last = last >= 254 ? 1 : last + 1
            if sessions[Int(last)] == nil {
                sessions[Int(last)] = session
                return last
            }
        }
        return 0
    }

    mutating func release(_ identifier: UInt8) { sessions[Int(identifier)] = nil }

    subscript(identifier: UInt8) -> Session? { sessions[Int(identifier)] }
}
