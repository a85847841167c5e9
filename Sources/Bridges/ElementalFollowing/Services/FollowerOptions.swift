public import Elemental
package import NIOCore

/// How a ``Follower`` follows services.
public struct FollowerOptions: Sendable {
    /// The name under which services list this client; not empty.
    public var name: String
    /// How to connect: timeout, security, limits, logger, event loops. The follower sets the reconnection and the role. A
    /// value has at most 4 MiB unless the limits say otherwise.
    public var connect: ConnectOptions
    /// The role that this client requests of a service, called before each connection. The service grants this role or
    /// a lower one. After ``Follower/pair(_:code:as:role:)`` the follower requests at least the role that was granted
    /// there.
    public var role: @Sendable (ServicePlace) -> Role = { _ in .observe }
    /// The elements of the services; `nil` for the catalogue that each service sends. A service without a catalogue is
    /// not followed then.
    public var elements: ElementCatalogue?
    /// The names of the elements that are followed; empty for all.
    public var onlyElements: Set<String> = []
    /// The maximum number of services that are followed at the same time.
    public var maximumServiceCount = 64
    /// The maximum bytes of the values of all services together: incomplete values, and each element's newest value of
    /// more than 256 bytes. A value beyond it is left out, which ``FollowerEvent/leftOut(_:_:byteCount:)`` reports.
    public var maximumByteCount = 64 << 20
    /// How often the round trip to each service that answers pings is measured; `nil` for never.
    public var pingInterval: Duration?
    /// Where to begin the history of an element whose service keeps its values (``ElementDefinition/history``); `nil`
    /// for live values only. From there on ``FollowerEvent/history(_:_:_:)`` reports the past values and then each new
    /// one, once and in order, even across a lost connection, and there are no other events with values of the element.
    /// The closure is called when a service connects, and again when it comes back after it was gone: return the
    /// position of the newest received value, if there is one.
    public var history: @Sendable (ServiceKey, ElementDefinition) -> HistoryBeginning? = { _, _ in nil }
    /// Whether a service that Zeroconf no longer lists stays ``FollowedState/away(_:retryIn:)`` until it is back, instead of
    /// becoming ``FollowedState/gone``.
    public var keepsGone = false

    /// The name under which services list this client once it is paired, unless it is ``name``. It has to be unique
    /// among the clients of a service.
    package var pairingName: String?
    /// Whether consumers keep long values. Otherwise only incomplete ones count towards ``maximumByteCount``.
    package var keepsLongValues = true
    /// Whether devices keep their elements' newest values even if they are long, besides what consumers keep.
    package var keepsLongValuesInDevices = true

    /// How long to wait for a service's hello before it counts as an older one, which sends none.
    package var helloTime = Duration.seconds(2)
    /// The delay before the second attempt; each further one is twice as long.
    package var firstRetry = Duration.seconds(1)
    package var longestRetry = Duration.seconds(30)
    package var refusalInterval = Duration.seconds(30)
    /// How often the store of ``connect``'s security is read while a service is not connected.
    package var trustInterval = Duration.seconds(1)

    /// The default maximum length of a value, in bytes.
    package static let maximumValueByteCount = 4 << 20

    /// Returns the followed elements of a service.
    func followed(_ catalogue: ElementCatalogue) -> ElementCatalogue {
        guard !onlyElements.isEmpty else { return catalogue }
        let elements = catalogue.filter { onlyElements.contains($0.name) }
        return (try? ElementCatalogue(elements)) ?? []
    }

    /// Creates options with the defaults.
    public init(name: String) {
        self.name = name
        connect = ConnectOptions(limits: DeviceLimits(maximumValueByteCount: Self.maximumValueByteCount))
    }

    /// Creates the options of a bridge, which keeps long values itself.
    package init(
        name: String, _ connect: ConnectOptions, on group: (any EventLoopGroup)? = nil, setsElements: Bool
    ) {
        self.name = name
        self.connect = connect
        if let group { self.connect.eventLoopGroup = group }
        role = { _ in setsElements ? .control : .observe }
        keepsLongValuesInDevices = false
    }
}
