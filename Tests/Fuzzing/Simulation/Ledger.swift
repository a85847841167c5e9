import Elemental

/// Accounts for every value of every connection: none is lost before the connection's end, duplicated, reordered or
/// invented.
final class Ledger: @unchecked Sendable {
    enum Kind: CaseIterable { case number, blob, newest, motion }

    /// The counts of values by connection.
    private var sent: [UInt32: [Kind: UInt32]] = [:]
    private var received: [UInt32: [Kind: UInt32]] = [:]
    private struct NewestTrack: Hashable {
        let connection: UInt32
        let device: ObjectIdentifier
    }

    private var newest: [NewestTrack: UInt32] = [:]
    private var lastConnection: UInt32 = 0
    /// A client that learns the elements from the service cannot use values received before it has them.
    var maySkipFirst = false
    private(set) var sentCount = 0
    private(set) var receivedCount = 0

    /// A connection's number in one direction; never reused.
    func open() -> UInt32 {
        lastConnection += 1
        return lastConnection
    }

    func next(_ kind: Kind, on connection: UInt32) -> Numbered {
        Numbered(connection: connection, place: sent[connection]?[kind] ?? 0)
    }

    /// `send` accepted the value.
    func note(sent number: Numbered, _ kind: Kind) {
        sent[number.connection, default: [:]][kind] = number.place + 1
        sentCount += 1
        trace("sent \(kind) \(number.connection):\(number.place)")
    }

    /// - Parameter device: the device that the value was received from. The latest value of a lost connection is sent
    ///   again over the replacement, and the rest of the old one may arrive late.
    func note(received number: Numbered, _ kind: Kind, from device: ElementalDevice) {
        receivedCount += 1
        trace("came \(kind) \(number.connection):\(number.place)")
        let count = sent[number.connection]?[kind] ?? 0
        check(number.place < count, "\(kind) \(number) came and was not sent")
        if received[number.connection]?[kind] == nil, maySkipFirst {
            received[number.connection, default: [:]][kind] = number.place
        }
        let next = received[number.connection]?[kind] ?? 0
        switch kind {
        case .number, .blob:
            check(number.place == next, "\(kind) \(number) came where \(next) was due")
        case .newest:
            let track = NewestTrack(connection: number.connection, device: ObjectIdentifier(device))
            let last = newest[track]
            check(number.place >= last ?? 0, "\(kind) \(number) came behind \(last ?? 0)")
            newest[track] = number.place
        case .motion: return
        }
        received[number.connection, default: [:]][kind] = max(next, number.place + 1)
    }

    /// Checks that nothing of the connection is missing, datagrams excepted.
    func checkComplete(_ connection: UInt32) {
        for kind in Kind.allCases where kind != .motion {
            let count = sent[connection]?[kind] ?? 0
            let arrived = received[connection]?[kind] ?? 0
            if arrived == 0, maySkipFirst { continue }
            check(arrived == count, "\(arrived) of \(count) \(kind)s of connection \(connection) came")
        }
    }
}
