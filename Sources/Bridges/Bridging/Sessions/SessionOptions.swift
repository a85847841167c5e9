package import Elemental
package import ElementalWire

/// How services are followed.
package struct SessionOptions: Sendable {
    /// This client's name, under which the services list it; not empty.
    package var name: String
    /// The name under which services list this client once it is paired, unless it is ``name``. No two clients of a
    /// service have the same one.
    package var pairingName: String?
    /// Timeout, security, limits, logger, event loops. The sessions set the reconnection and the role themselves.
    package var connect = ConnectOptions()
    /// What this client asks a service for; asked before each connection. It gets this or what the service grants,
    /// whichever is less. After ``ServiceSessions/pair(_:code:as:role:)`` it is at least what was granted there.
    package var role: @Sendable (ServicePlace) -> Role = { _ in .control }
    /// The elements of the services; `nil` for the catalogue that each tells, without which none is connected to.
    package var elements: ElementCatalogue?
    /// The most services at a time.
    package var maximumServices = 256
    /// The maximum bytes of the values of all services together: incomplete values, and each element's newest value of
    /// more than 256 bytes, which an observer may keep. A value beyond it is left out, an incomplete one as it arrives.
    package var maximumByteCount = 64 << 20
    /// Whether observers keep long values. Otherwise only those that are arriving count.
    package var keepsLongValues = true
    /// Whether devices keep long values as their elements' newest, besides what observers keep.
    package var keepsLongValuesInDevices = false
    /// How often the round trip to each service that answers pings is measured; `nil` for never.
    package var pingInterval: Duration?
    /// Whether a service that is listed no more stays ``SessionState/away(reason:retryIn:)`` until it is back, instead of
    /// being ``SessionState/gone``.
    package var keepsGone = false

    /// Services that were found before, and are followed at once. Each belongs to one of the subjects.
    package var known: [DiscoveredService] = []
    /// Called with the error of each attempt to connect that failed, before the state that follows from it.
    package var onFailure: (@Sendable (ServiceKey, ElementalError) -> Void)?

    /// How long a service may take to say hello before it counts as an older one, which never does.
    package var helloTime = Duration.seconds(2)
    /// The delay before the second attempt; the next are twice as long each.
    package var firstRetry = Duration.seconds(1)
    /// The longest delay between attempts.
    package var longestRetry = Duration.seconds(30)
    /// How often a service that refuses is asked again.
    package var refusalInterval = Duration.seconds(30)
    /// How often the store of ``connect``'s security is looked at while a service is not connected.
    package var trustInterval = Duration.seconds(1)

    /// The longest value of a service that is followed, unless the user says otherwise.
    package static let maximumValueByteCount = 4 << 20

    package init(name: String) { self.name = name }
}
