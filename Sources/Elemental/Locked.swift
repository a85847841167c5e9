#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A value that its lock guards.
///
/// It is pthread's mutex because the thread sanitizer does not see through `Synchronization.Mutex`, whose code is in the
/// runtime, and would call everything that it guards a race (seen with Swift 6.3.1 on Linux). With glibc it is the kind
/// that looks a few times before it sleeps: what is done under these locks is shorter than a change of threads.
struct Locked<Value>: @unchecked Sendable {
    /// The value and the mutex in one piece of memory.
    private final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            withUnsafeMutablePointerToElements { mutex in
                pthread_mutex_destroy(mutex)
                mutex.deinitialize(count: 1)
            }
        }
    }

    private let storage: Storage

    init(_ value: Value) {
        let buffer = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { mutex in
                mutex.initialize(to: pthread_mutex_t())
                Self.set(up: mutex)
            }
            return value
        }
        storage = unsafeDowncast(buffer, to: Storage.self)
    }

    private static func set(up mutex: UnsafeMutablePointer<pthread_mutex_t>) {
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        #if canImport(Glibc)
        pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
        #endif
        let status = pthread_mutex_init(mutex, &attributes)
        precondition(status == 0, "the system has no room for a lock")
        pthread_mutexattr_destroy(&attributes)
    }

    /// Works on the value while no other thread does.
    @inline(__always)
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointers { value, mutex in
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }
}
