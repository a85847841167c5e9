import NIOConcurrencyHelpers

/// The lock that the thread sanitizer understands, as in the library.
typealias Locked = NIOLockedValueBox

extension NIOLockedValueBox {
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result { try withLockedValue(body) }
}
