import Support

/// The services on the network as a list for a view, which updates by itself.
///
/// ```swift
/// @State private var lamps = ObservedBrowser("lamp")
/// …
/// List(lamps.services) { lamp in Text(lamp.name) }
/// ```
/// It browses from the first read of the list until it is released.
@MainActor
@Observable
public final class ObservedBrowser {
    /// The name of the services browsed for, or `nil` for all element services.
    @ObservationIgnored public let service: String?
    private var currentServices: [ObservedService] = []
    private var currentFailure: ElementalError?

    @ObservationIgnored private let security: ClientSecurity
    @ObservationIgnored private let inbox: Inbox<Listing>
    /// Browses until the list is released, whose `deinit` may run on any thread.
    @ObservationIgnored private let task = Locked<Task<Void, Never>?>(nil)

    /// Creates a list of the services of one name, such as `lamp`, or of all element services of this framework.
    ///
    /// - Parameters:
    ///   - service: the services' name; `nil` for all.
    ///   - security: the client's identity and trusted services, which determine ``ObservedService/state``.
    ///   - pace: the minimum time between changes of the list: see ``ObservationPace/frame``.
    public init(
        _ service: String? = nil, security: ClientSecurity = .automatic, pace: ObservationPace = ObservationPace()
    ) {
        self.service = service
        self.security = security
        inbox = Inbox(Listing(), frame: pace.frame)
        inbox.onArrival { [weak self] in
            Task { @MainActor in self?.takeArrivals() }
        }
    }

    deinit { task.withLock { $0 }?.cancel() }

    /// The services, sorted by name.
    public var services: [ObservedService] {
        begin()
        return currentServices
    }

    /// Why browsing fails at present, usually because the system's Zeroconf is not available to the program; `nil` when
    /// it works, and from the next found service on. Browsing retries by itself, unless ``service`` is an invalid name.
    public var failure: ElementalError? {
        begin()
        return currentFailure
    }

    private func begin() {
        task.withLock { task in
            guard task == nil else { return }
            task = Task { [service, security, inbox] in
                await Listing.follow(ElementalBrowser(service), TrustedServices(security), inbox)
            }
        }
    }

    private func takeArrivals() {
        let listing = inbox.take { $0 }
        let services = listing.services
        if services != _currentServices { currentServices = services }
        if listing.failure?.message != _currentFailure?.message { currentFailure = listing.failure }
    }
}
