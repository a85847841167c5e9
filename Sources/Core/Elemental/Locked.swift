package import NIOConcurrencyHelpers

/// A value that its lock guards.
///
/// It is NIO's, on pthread's mutex, because the thread sanitizer does not see through `Synchronization.Mutex`, whose
/// code is in the runtime, and would call everything that it guards a race (seen with Swift 6.3.1 on Linux).
package typealias Locked = NIOLockedValueBox

extension NIOLockedValueBox {
    /// Works on the value while no other thread does.
    @inline(__always)
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try withLockedValue(body)
    }
}
