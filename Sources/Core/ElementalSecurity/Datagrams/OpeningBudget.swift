/// Limits the work that forged datagrams cause, in bytes a second. Detecting a wrong tag takes as long as opening the
/// datagram.
///
/// A connection has one budget for the address of its peer. All other addresses share another one, so that a flood from
/// elsewhere does not block the peer's datagrams.
package final class OpeningBudget {
    /// The maximum number of bytes of forged datagrams that are tried in a second.
    package static let byteCountPerSecond = 8 * 1024 * 1024
    /// The cost of a datagram besides its length, in bytes.
    package static let datagramCost = 256

    private var spent = 0
    private var second: UInt64 = 0

    package init() {}

    /// Whether a datagram of this length may be tried. The clock is read only when the budget is used up.
    func allows(_ byteCount: Int, _ now: () -> UInt64) -> Bool {
        spent + byteCount + Self.datagramCost <= Self.byteCountPerSecond || now() != second
    }

    /// Counts a datagram of this length that was tried and found forged.
    func spend(_ byteCount: Int, _ now: () -> UInt64) {
        let now = now()
        if now != second { (second, spent) = (now, 0) }
        spent += byteCount + Self.datagramCost
    }
}
