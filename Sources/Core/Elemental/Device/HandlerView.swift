/// The event loop's view of a handler table: the newest snapshot, brought up to date when the table says that it changed.
///
/// The references that a received value follows are unmanaged, so that it touches no reference count; the view owns what
/// they lead to.
struct HandlerView {
    private let table: HandlerTable
    private let unmanagedTable: Unmanaged<HandlerTable>
    private var snapshot: HandlerSnapshot
    private var version: UInt64
    /// The snapshot. It lives until the next ``refresh()``.
    private(set) var handlers: Unmanaged<HandlerSnapshot>

    init(_ table: HandlerTable) {
        self.table = table
        unmanagedTable = .passUnretained(table)
        // Older than the table's, if that ever changed: something may be postponed.
        version = 0
        snapshot = table.snapshot
        handlers = .passUnretained(snapshot)
    }

    /// Whether a handler was added or cancelled since the snapshot was taken.
    var isStale: Bool {
        @inline(__always) get { unmanagedTable._withUnsafeGuaranteedRef { $0.version } != version }
    }

    /// Takes a new snapshot.
    mutating func refresh() {
        version = table.version
        snapshot = table.snapshot
        handlers = .passUnretained(snapshot)
    }
}
