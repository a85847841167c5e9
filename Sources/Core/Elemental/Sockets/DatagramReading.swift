import NIOCore
import Support

/// Chooses how a UDP socket is read: a datagram at a time while they come singly, which allocates least, and several in
/// one system call while more are waiting.
struct DatagramReading {
    /// Datagrams received in one system call while more are waiting.
    static let batchCount = 16
    /// Reads between two looks at whether that should change.
    private static let lookDistance = 16

    /// Whether several are read in one system call.
    private(set) var isBatched = false
    private var readCount = 0
    private var datagramCount = 0
    private var descriptor: CInt?

    /// The channel is registered. On its event loop.
    mutating func begin(_ channel: any Channel) {
        let descriptor = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: CInt.self) { $0 }
        self.descriptor = descriptor.flatMap { $0 }
    }

    /// A datagram was read.
    mutating func noteDatagram() { datagramCount += 1 }

    /// A read is complete. On the channel's event loop.
    mutating func finish(_ channel: any Channel) {
        readCount += 1
        guard readCount == Self.lookDistance else { return }
        let isSingly = datagramCount < 2 * readCount
        (readCount, datagramCount) = (0, 0)
        // A closed descriptor may have been reused for another socket.
        guard let descriptor, channel.isActive else { return }
        if isBatched {
            if isSingly { setBatched(false, channel) }
        } else if Self.isAnyWaiting(descriptor) {
            setBatched(true, channel)
        }
    }

    private mutating func setBatched(_ isBatched: Bool, _ channel: any Channel) {
        let count = isBatched ? Self.batchCount : 0
        guard (try? channel.syncOptions?.setOption(.datagramVectorReadMessageCount, value: count)) != nil else {
            // Not on this system.
            descriptor = nil
            return
        }
        self.isBatched = isBatched
    }

    private static func isAnyWaiting(_ descriptor: CInt) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLIN) != 0
    }
}
