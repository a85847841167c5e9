/// The event loop's view of a device's handlers, those that it shares with the service's other devices first: a snapshot,
/// refreshed when a table's version has changed.
///
/// The references followed for a received value are unmanaged, so that it touches no reference count; the view owns the
/// objects.
struct HandlerView {
    private let shared: HandlerTable
    private let own: HandlerTable
    private let unmanagedShared: Unmanaged<HandlerTable>
    private let unmanagedOwn: Unmanaged<HandlerTable>
    private var snapshot: HandlerSnapshot
    private var sharedVersion: UInt64
    private var ownVersion: UInt64
    /// The snapshot. Valid until the next ``refresh(at:)``.
    private(set) var handlers: Unmanaged<HandlerSnapshot>

    /// - Parameters:
    ///   - shared: the service's.
    ///   - own: the device's.
    init(shared: HandlerTable, own: HandlerTable) {
        self.shared = shared
        self.own = own
        unmanagedShared = .passUnretained(shared)
        unmanagedOwn = .passUnretained(own)
        // Behind the tables' versions if these have ever changed: work may have been postponed.
        (sharedVersion, ownVersion) = (0, 0)
        snapshot = .joining(shared.snapshot, own.snapshot)
        handlers = .passUnretained(snapshot)
    }

    // Two properties: for one that looks at both tables the compiler copied the whole view, with its references, for every
    // value, and a value took twice as long to receive (Swift 6.3.1).
    /// Whether a shared handler was added or cancelled since the snapshot was taken.
    var isSharedStale: Bool {
        @inline(__always) get { unmanagedShared._withUnsafeGuaranteedRef { $0.version } != sharedVersion }
    }
    /// Whether a handler of the device's own was.
    var isOwnStale: Bool {
        @inline(__always) get { unmanagedOwn._withUnsafeGuaranteedRef { $0.version } != ownVersion }
    }

    /// The tables' versions now.
    var versions: (shared: UInt64, own: UInt64) { (shared.version, own.version) }

    /// Takes a new snapshot.
    ///
    /// - Parameter versions: the tables' as they were before postponed work was done: what was postponed since makes the view
    ///   stale again.
    mutating func refresh(at versions: (shared: UInt64, own: UInt64)) {
        (sharedVersion, ownVersion) = versions
        snapshot = .joining(shared.snapshot, own.snapshot)
        handlers = .passUnretained(snapshot)
    }
}
