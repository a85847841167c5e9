public import NIOConcurrencyHelpers
import Synchronization

/// A value guarded by a lock.
///
/// This is NIO's box around a pthread mutex: an uncontended lock and unlock take 11 ns. `Synchronization.Mutex` takes
/// 9.6 ns, but the thread sanitizer does not know it and reports everything that it guards as a race (Swift 6.3.1 on
/// Linux).
package typealias Locked = NIOLockedValueBox

/// A lock without a value. In a `Locked<Void>`, mutex and value would have the same address, which the thread sanitizer
/// reports as a race.
package typealias Lock = NIOLock

extension NIOLockedValueBox {
    /// Runs `body` with exclusive access to the value.
    @inlinable
    @inline(__always)
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try withLockedValue(body)
    }
}

/// A value guarded by a spin lock, for critical sections shorter than a context switch. Locking is one atomic operation
/// and unlocking a plain store: 5 ns together, where `Synchronization.Mutex` takes 9.6 and ``Locked`` 11. With that
/// mutex instead, a connection carried 27 % fewer values of 8 bytes a second (Swift 6.3.1 on Linux, 2 cores).
///
/// A thread that finds it locked spins briefly, then yields, then sleeps between attempts, so that a thread of higher
/// priority does not keep the lock's holder from running. A sleep takes at least 70 us: when sleeping was the second
/// step, a service that sent to ten devices spent a third of its time asleep.
///
/// Unchecked: only ``withLock(_:)`` reaches the storage, one thread at a time.
///
/// `@usableFromInline` on the type lets other modules inline its `@inlinable package` members. Without it Swift 6.3.1
/// calls them unspecialized.
@usableFromInline
package struct BrieflyLocked<Value>: @unchecked Sendable {
    /// The value, followed by a word that is 1 while it is locked.
    @usableFromInline
    final class Storage: ManagedBuffer<Value, UInt64> {}

    @usableFromInline
    let storage: ManagedBuffer<Value, UInt64>

    @inlinable
    package init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { SpinWord($0).initialize() }
            return value
        }
    }

    /// Runs `body` with exclusive access to the value.
    @inlinable
    @inline(__always)
    package func withLock<Result, Failure>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The pointers stay valid: this value owns the storage, and the caller keeps the value alive during the call.
        let (value, elements) = storage.withUnsafeMutablePointers { ($0, $1) }
        let word = SpinWord(elements)
        if !word.tryLock() { word.lockAfterWaiting() }
        defer {
            word.unlock()
            withExtendedLifetime(storage) {}
        }
        return try body(&value.pointee)
    }
}

/// The word of a spin lock, 1 while it is locked. Not generic, so that calls that are not inlined need no metadata.
@usableFromInline
struct SpinWord {
    @usableFromInline
    let atomic: UnsafeMutablePointer<Synchronization.Atomic<UInt64>>

    private static var spins: Int { 200 }
    private static var yields: Int { 20 }

    @inlinable
    @inline(__always)
    init(_ word: UnsafeMutablePointer<UInt64>) {
        atomic = UnsafeMutableRawPointer(word).assumingMemoryBound(to: Synchronization.Atomic<UInt64>.self)
    }

    @inlinable
    func initialize() { atomic.initialize(to: Synchronization.Atomic(0)) }

    @inlinable
    @inline(__always)
    func tryLock() -> Bool {
        atomic.pointee.compareExchange(expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
            .exchanged
    }

    @inlinable
    @inline(__always)
    func unlock() { atomic.pointee.store(0, ordering: .releasing) }

    @usableFromInline
    @inline(never)
    func lockAfterWaiting() {
        var rounds = 0
        while true {
            for _ in 0..<Self.spins where atomic.pointee.load(ordering: .relaxed) == 0 && tryLock() { return }
            if rounds < Self.yields { sched_yield() } else { BriefSleep.sleep() }
            rounds += 1
        }
    }
}

/// A short sleep while another thread finishes work that is shorter than a context switch.
package enum BriefSleep {
    package static func sleep() {
        var time = timespec(tv_sec: 0, tv_nsec: 20_000)
        nanosleep(&time, nil)
    }
}
