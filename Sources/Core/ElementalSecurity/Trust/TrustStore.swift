/// Where an end keeps the peers that it trusts.
///
/// The functions may block on a disk or a lock: call them on a thread that may, never on an event loop or a task of
/// Swift's thread pool. If ``read()`` throws, trust nobody.
public protocol TrustStore: Sendable {
    /// The trusted peers at this moment. A store that has vanished throws: it is not one in which nobody is trusted.
    func read() throws -> TrustedPeers

    /// Changes the trusted peers, after every other change and before every later one, also by other processes. If
    /// `change` throws, nothing is changed. It must not call `update` itself.
    ///
    /// - Throws: what `change` throws; an error of the store if it cannot be read, the result is not valid, or it cannot
    ///   be written.
    /// - Returns: what `change` returns.
    func update<Result>(_ change: (inout TrustedPeers) throws -> Result) throws -> Result

    /// Identifies the store's present contents. It is cheap: it is compared once a second, and what is read is read again
    /// if it differs. Take it before reading, so that no change is missed.
    func revision() -> TrustRevision

    /// The directories of which one has a file that changes whenever ``revision()`` does: on Linux the store is then looked
    /// at when the system reports a change, and otherwise once a minute. `nil`, the default, if there are none.
    var watchedDirectories: [String]? { get }
}

extension TrustStore {
    public var watchedDirectories: [String]? { nil }
}

/// The state of a ``TrustStore`` at a moment: equal for equal contents, and different after every change.
public struct TrustRevision: Sendable, Hashable {
    private let numbers: [Int64]

    /// - Parameter numbers: those that differ after a change, such as a counter, or a file's inode, size and times.
    public init(_ numbers: Int64...) { self.numbers = numbers }
}
