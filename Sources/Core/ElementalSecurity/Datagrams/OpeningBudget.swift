/// Limits the work that forged datagrams cause, in bytes a second. To find that a tag is wrong takes as long as to open
/// the datagram.
///
/// A connection has one for the address of its peer. All other addresses share another one, so that a flood from
/// elsewhere does not keep out what the peer sends.
package final class OpeningBudget {
    /// Bytes of forged datagrams that are tried in a second.
    package static let byteCountPerSecond = 8 * 1024 * 1024
    /// The cost of a datagram besides its length, in bytes.
    package static let datagramCost = 256

    private var spent = 0
    private var second: UInt64 = 0

    package init() {}

    /// Whether a datagram of that length may be tried. The clock is only looked at when much was spent.
    func allows(_ byteCount: Int, _ now: () -> UInt64) -> Bool {
        spent + byteCount + Self.datagramCost <= Self.byteCountPerSecond || now() != second
    }

    /// A datagram of that length was tried and found forged.
    func spend(_ byteCount: Int, _ now: () -> UInt64) {
        let now = now()
        if now != second { (second, spent) = (now, 0) }
        spent += byteCount + Self.datagramCost
    }
}
