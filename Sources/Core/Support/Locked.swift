public import NIOConcurrencyHelpers

/// A value that its lock guards.
///
/// This is NIO's box around a pthread mutex. `Synchronization.Mutex` lives in the runtime library, where the thread
/// sanitizer cannot see it: everything it guards is then reported as a race (seen with Swift 6.3.1 on Linux).
package typealias Locked = NIOLockedValueBox

extension NIOLockedValueBox {
    /// Works on the value while no other thread does.
    @inlinable
    @inline(__always)
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try withLockedValue(body)
    }
}
