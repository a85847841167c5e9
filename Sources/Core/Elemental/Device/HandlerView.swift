/// The event loop's view of a handler table: the latest snapshot, refreshed when the table's version has changed.
///
/// The references followed for a received value are unmanaged, so that it touches no reference count; the view owns the
/// objects.
struct HandlerView {
    private let table: HandlerTable
    private let unmanagedTable: Unmanaged<HandlerTable>
    private var snapshot: HandlerSnapshot
    private var version: UInt64
    /// The snapshot. Valid until the next ``refresh()``.
    private(set) var handlers: Unmanaged<HandlerSnapshot>

    init(_ table: HandlerTable) {
        self.table = table
        unmanagedTable = .passUnretained(table)
        // Behind the table's version if that has ever changed: work may have been postponed.
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
