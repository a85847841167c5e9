import Support

/// The memory that several holders share, in bytes. No holder gets more than what it leaves to the others, so that one
/// alone gets half, two get a third each, and there is always something left for one more.
package final class ByteBudget: Sendable {
    package let limit: Int
    private let used = Locked(0)

    package init(_ limit: Int) { self.limit = limit }

    /// The bytes that are held now.
    package var usedByteCount: Int { used.withLock { $0 } }

    /// A holder has `new` bytes in place of `old`, unless these are too many.
    ///
    /// - Parameter own: the bytes that the holder has, `old` among them.
    package func replace(_ old: Int, by new: Int, own: Int) -> Bool {
        used.withLock { used in
            let others = used - own
            guard new <= old || own - old + new <= limit - others - (own - old + new) else { return false }
            used += new - old
            return true
        }
    }

    /// A holder has fewer bytes, or more, which cannot be prevented any more.
    ///
    /// - Parameter own: the bytes that it has now.
    /// - Returns: whether these are no more than it may have.
    package func note(_ change: Int, own: Int) -> Bool {
        used.withLock { used in
            used += change
            return own <= limit - used
        }
    }
}
