import ElementalWire
import NIOCore

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// All that a device has beside its handlers and what waits to be sent. One lock guards it, which is not held while code
/// of the program's runs.
struct DeviceState {
    /// What is known of the other end.
    struct Identity {
        var name: String
        var address: SocketAddress?
        var service: String?
        var hello: Hello?
        /// What the service told of its elements, and the error if it cannot be read.
        var catalogue: Result<ElementCatalogue, WireError>?
        var udpIdentifier: UInt8 = 0
        /// What frames are checked against: the program's own elements, or else those that the service told.
        var elements: ElementTable
    }

    /// What came in.
    struct Inbound {
        var statistics = DeviceStatistics()
        var pauses: Set<UInt64> = []
        var lastPause: UInt64 = 0
        /// The newest values that are too long for ``NewestValues`` to keep without a lock, by identifier, up to the
        /// highest that has had one.
        var longValues: [Data?] = []
    }

    var identity: Identity
    var inbound = Inbound()
    var endings = Endings()
    var events = DeviceEvents()
    /// Pings that wait for their pong.
    var pings = Waiters<Result<ContinuousClock.Instant, ElementalError>>()
    /// Tasks that wait for the service's catalogue, until it is known or not to come.
    var catalogueWaiters = Waiters<Void>()
    var isCatalogueSettled = false
}
