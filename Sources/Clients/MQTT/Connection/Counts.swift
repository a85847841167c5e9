import Synchronization

/// The counts that the event loop writes and any thread reads.
final class Counts: Sendable {
    let connections = Atomic(0)
    let messagesSent = Atomic(0)
    let bytesSent = Atomic(0)
    let messagesReceived = Atomic(0)
    let bytesReceived = Atomic(0)
    let duplicatesReceived = Atomic(0)
    let unexpectedAcknowledgements = Atomic(0)
    let inFlight = Atomic(0)
}

extension Atomic<Int> {
    /// Adds to a count that only one thread changes, which takes no locked operation.
    func count(_ amount: Int = 1) {
        store(load(ordering: .relaxed) &+ amount, ordering: .relaxed)
    }

    var value: Int { load(ordering: .relaxed) }
}
