public import ElementalSecurity
public import ElementalWire
import Support

/// A service: the elements that this machine lets any number of clients control and read.
///
/// ```swift
/// let lamp = ElementalService("screen_control", displayName: "Desk lamp", elements: Lamp.all)
/// lamp.onValue(of: Lamp.brightness) { value, device in backlight.set(value) }
/// try await lamp.runUntilInterrupted()
/// ```
/// All handlers of a service run on one event loop, one at a time, in the order in which values arrive; they must not
/// block. A program may have any number of services.
public final class ElementalService: Sendable {
    let shared: Shared
    let state = Locked(State())

    struct State {
        enum Phase {
            case idle, starting, running(Listener, Publication?), stopping
        }

        var phase = Phase.idle
        /// `nil` while idle.
        var ended: Latch?
    }

    var listener: Listener? {
        guard case .running(let listener, _) = state.withLock({ $0.phase }) else { return nil }
        return listener
    }

    /// Creates a service that is not on the network yet.
    ///
    /// - Parameters:
    ///   - service: the service's name, such as `robot`, by which clients find it.
    ///   - displayName: the instance's display name; `nil` for the host's name. At most 63 UTF-8 bytes when published.
    ///   - elements: the elements that can be controlled and read.
    ///   - configuration: port, UDP, limits, logging.
    public init(
        _ service: String, displayName: String? = nil, elements: ElementCatalogue,
        configuration: ServiceConfiguration = ServiceConfiguration()
    ) {
        shared = Shared(
            name: service, displayName: displayName ?? HostName.current, elements: elements,
            configuration: configuration)
        followOwnEvents()
    }

    /// The service's name, such as `robot`.
    public var service: String { shared.name }
    /// The requested name of the instance. ``ServiceEvent/published(name:)`` reports the assigned one.
    public var displayName: String { shared.displayName }
    /// The elements that can be controlled and read.
    public var elements: ElementCatalogue { shared.table.catalogue }
    /// The connected devices.
    public var devices: [ElementalDevice] { shared.devices.withLock { $0 } }
    /// The port that the service listens on, or `nil` when it is not running.
    public var port: Int? { listener?.port }
    /// How it listens, publishes and limits its clients.
    public var configuration: ServiceConfiguration { shared.configuration }
    /// The maximum number of concurrent devices, or `nil` when the service is not running:
    /// ``ServiceConfiguration/maximumDeviceCount``, or fewer where this process may not open as many files and sockets
    /// (`ulimit -n`). Some descriptors are reserved for the rest of the program; further connections are refused with
    /// the reason.
    public var deviceCapacity: Int? { listener?.deviceCapacity }

    /// Returns the service's events from now on; each call returns a separate stream. The stream spans several runs of
    /// the service, each of which ends with ``ServiceEvent/stopped`` or ``ServiceEvent/failed(_:)``. It ends when the
    /// service is released.
    public func events() -> AsyncStream<ServiceEvent> { shared.events.makeEventStream() }

    /// Calls `handler` with each event of the service, on its event loop. It must not block.
    @discardableResult
    public func onEvent(_ handler: @escaping @Sendable (ServiceEvent) -> Void) -> HandlerRegistration {
        HandlerRegistration(shared.events.addEventHandler(handler))
    }

    /// Accepts or refuses connections before they are set up. `decide` is called on the event loop, once with the
    /// address and once with the name, and must not block.
    ///
    /// A client is admitted after both calls. One that does not send its name within ``DeviceLimits/handshakeTimeout``
    /// is refused; values that it sent before its name are rejected.
    public func onConnectionRequest(_ decide: @escaping @Sendable (ConnectionRequest) -> Admission) {
        shared.admission.withLock { $0 = decide }
    }

    /// Changes the TXT entries that browsers show before they connect, whether or not the service is running.
    ///
    /// - Throws: ``ElementalError/Code/invalidValue`` if the service is published and the entries do not fit a TXT
    ///   record; the service keeps its previous ones. If it is not running, ``start()`` checks them.
    public func update(txt: [String: String]) throws(ElementalError) {
        try republish(shared.txt) { $0 = txt }
    }

    func republish<Part: Sendable>(_ part: Locked<Part>, _ change: (inout Part) -> Void) throws(ElementalError) {
        let before = part.withLock { current in
            let before = current
            change(&current)
            return before
        }
        guard case .running(_, let publication?) = state.withLock({ $0.phase }) else { return }
        do {
            try publication.updateTXT()
        } catch {
            part.withLock { $0 = before }
            throw error
        }
    }

    /// Replaces the elements that can be controlled and read, whether or not the service is running.
    ///
    /// Connected devices know the previous elements: they are sent the reason and disconnected, and receive the new
    /// elements when they reconnect. Values of elements whose definitions are unchanged are kept.
    /// - Parameter reason: the text sent to the devices.
    public func update(
        elements: ElementCatalogue, reason: String = "the service's elements have changed; connect again"
    ) {
        shared.use(elements)
        listener?.execute { $0.disconnectAll(reason) }
    }
}

/// A connection that a service can accept or refuse before it is set up.
///
/// The service decides twice: with the address alone when the connection arrives, and again when the client has sent
/// its name.
public struct ConnectionRequest: Sendable {
    /// The client's address and port, as text.
    public let address: String
    /// The client's host address without the port, as text.
    public let host: String
    /// The name that the client sent; `nil` if it has not sent one yet.
    public let name: String?
    /// The client's role; ``Role/plain`` unless it is paired.
    public let role: Role
    /// The client's proven identity; `nil` if it is not paired.
    public let fingerprint: Fingerprint?
    /// How many devices are connected.
    public let deviceCount: Int
}

/// The answer to a ``ConnectionRequest``.
public enum Admission: Sendable, Hashable {
    /// Accept the connection.
    case accept
    /// Close the connection and send the client this reason.
    case refuse(String)
}
