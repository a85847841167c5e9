/// A store of the peers that this end trusts.
///
/// Its functions may block on a disk or a lock: call them on a thread that may block, never on an event loop or in a
/// task of Swift's thread pool. If ``read()`` throws, trust no peer.
public protocol TrustStore: Sendable {
    /// The currently trusted peers. A store that has vanished throws: it is not the same as an empty one.
    func read() throws -> TrustedPeers

    /// Changes the trusted peers, in order with all other changes, also those of other processes. If `change` throws,
    /// nothing is changed. `change` must not call `update`.
    ///
    /// - Throws: the errors of `change`; an error of the store if it cannot be read, the result is not valid, or it
    ///   cannot be written.
    /// - Returns: the result of `change`.
    func update<Result>(_ change: (inout TrustedPeers) throws -> Result) throws -> Result

    /// Identifies the store's current contents. It has to be cheap: it is called up to once a second, and the store is
    /// read again when the revision differs. Get the revision before reading, so that no change is missed.
    func revision() -> TrustRevision

    /// The directories of the files that change with ``revision()``. On Linux the framework then checks the store when
    /// the system reports a change in these directories, and otherwise once a minute. `nil`, the default, if there are
    /// none.
    var watchedDirectories: [String]? { get }
}

extension TrustStore {
    public var watchedDirectories: [String]? { nil }
}

/// The state of a ``TrustStore`` at a moment: equal for equal contents, and different after every change.
public struct TrustRevision: Sendable, Hashable {
    private let numbers: [Int64]

    /// Creates a revision.
    ///
    /// - Parameter numbers: numbers that differ after a change, such as a counter, or a file's inode, size and times.
    public init(_ numbers: Int64...) { self.numbers = numbers }
}
