import CSQLite

/// A SQLite file. One task uses it at a time.
public final class Database {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// SQLite copies a text before the call returns.
    private static let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private var handle: OpaquePointer?

    /// Opens the file, or makes it.
    ///
    /// - Throws: ``Failure``.
    public init(path: String) throws(Failure) {
        let result = sqlite3_open(path, &handle)
        guard result == SQLITE_OK else { throw failure }
        // Another program may be reading or writing.
        sqlite3_busy_timeout(handle, 2000)
    }

    deinit { sqlite3_close(handle) }

    private var failure: Failure { Failure(description: String(cString: sqlite3_errmsg(handle))) }

    /// Runs a statement. Values are bound, never part of its text: they come from the network.
    ///
    /// - Returns: the rows, each a text for every column, or `nil` where it is NULL.
    /// - Throws: ``Failure``.
    @discardableResult
    public func run(_ statement: String, _ values: String?...) throws(Failure) -> [[String?]] {
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v2(handle, statement, -1, &prepared, nil) == SQLITE_OK else { throw failure }
        defer { sqlite3_finalize(prepared) }
        for (position, value) in values.enumerated() {
            if let value { sqlite3_bind_text(prepared, Int32(position + 1), value, -1, Self.copies) }
        }
        var rows: [[String?]] = []
        while true {
            switch sqlite3_step(prepared) {
            case SQLITE_ROW:
                rows.append(
                    (0..<sqlite3_column_count(prepared)).map { column in
                        sqlite3_column_text(prepared, column).map { String(cString: $0) }
                    })
            case SQLITE_DONE: return rows
            default: throw failure
            }
        }
    }
}
