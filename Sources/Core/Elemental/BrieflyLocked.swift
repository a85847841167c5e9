import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A value that its lock guards, for work shorter than a change of threads: one atomic operation to lock, a plain store
/// to unlock, which is half of what a mutex costs (measured: a third of the time of a send was the mutex).
///
/// Who finds it locked looks again a few times, and then sleeps a little between looks, so that a thread of higher
/// priority does not keep the holder from its processor.
struct BrieflyLocked<Value>: @unchecked Sendable {
    /// The value, and behind it the word that is 1 while it is locked.
    private final class Storage: ManagedBuffer<Value, UInt64> {}

    private typealias Word = UnsafeMutablePointer<Atomic<UInt64>>

    private static var looks: Int { 200 }

    private let storage: ManagedBuffer<Value, UInt64>

    init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { Self.word($0).initialize(to: Atomic(0)) }
            return value
        }
    }

    private static func word(_ elements: UnsafeMutablePointer<UInt64>) -> Word {
        UnsafeMutableRawPointer(elements).assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    /// Works on the value while no other thread does.
    @inline(__always)
    func withLock<Result, Failure>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        // The storage lives as long as this value does, which the caller keeps during the call.
        let (value, elements) = storage.withUnsafeMutablePointers { ($0, $1) }
        let word = Self.word(elements)
        if !Self.tryLock(word) { Self.wait(for: word) }
        defer {
            word.pointee.store(0, ordering: .releasing)
            withExtendedLifetime(storage) {}
        }
        return try body(&value.pointee)
    }

    @inline(__always)
    private static func tryLock(_ word: Word) -> Bool {
        word.pointee.compareExchange(expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed)
            .exchanged
    }

    @inline(never)
    private static func wait(for word: Word) {
        while true {
            for _ in 0..<looks where word.pointee.load(ordering: .relaxed) == 0 && tryLock(word) { return }
            BriefSleep.sleep()
        }
    }
}

/// A rest for a thread that waits for another to finish what takes less than a change of threads.
enum BriefSleep {
    static func sleep() {
        var time = timespec(tv_sec: 0, tv_nsec: 20_000)
        nanosleep(&time, nil)
    }
}
