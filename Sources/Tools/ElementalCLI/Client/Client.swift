import Elemental
import ElementalFollowing
import Logging
import Support

/// A connection to a service, with the elements that can be used.
struct Client: Sendable {
    typealias Values = ElementValues<ArrivedValue>

    let device: ElementalDevice
    /// The elements that the user gave; `nil` for those of the service, which may change with the connection.
    let givenElements: ElementCatalogue?
    let place: ServicePlace
    /// Finds other services that match the target; `nil` if there cannot be any.
    let finder: ServiceFinder?
    let pairing: PairingAdvice
    let console: Console
    /// All values from the first on, if ``Settings/wantsValues`` was set.
    let values: Values?
    let arrivalTimes: ArrivalTimes
    let transfers: Transfers
    /// The connection's losses and returns, if ``Settings/wantsValues`` was set.
    let events: AsyncStream<DeviceEvent>?

    struct Settings: Sendable {
        var name: String
        /// The elements to use; `nil` for the catalogue that the service sends.
        var elements: ElementCatalogue?
        var access = ClientAccess()
        /// How much of this process's memory the service may use.
        var limits = DeviceLimits()
        /// Whether ``Client/values`` is wanted. It must then be read: unread values suspend reading from the connection.
        var wantsValues = false
        /// Whether to show the progress of large values from the service, including its echoes of what was sent to it.
        var showsIncoming = true
        /// The latency mode of the connection's event loop.
        var latency = Latency.standard
        /// When to connect again after a loss; `nil` for never.
        var reconnection: (any ReconnectionPolicy)?
        /// The message for an error about the service's catalogue.
        var advice: @Sendable (ElementalError) -> String = { "\($0.message) with --element \(ElementSpec.form)" }
        /// Finds other services that match the target.
        var finder: ServiceFinder?
        /// Called on the connection's event loop with every value.
        var onValue: (@Sendable () -> Void)?
    }

    /// Connects, gets the catalogue, runs `body` and closes the connection, also after an error.
    static func with<Result>(
        _ place: ServicePlace, _ settings: Settings, _ output: OutputOptions, _ console: Console,
        _ body: (Client) async throws -> Result
    ) async throws -> Result {
        let values = Locked<Values?>(nil)
        let events = Locked<AsyncStream<DeviceEvent>?>(nil)
        let arrivalTimes = ArrivalTimes()
        let transfers = Transfers(console: console, showsIncoming: settings.showsIncoming)
        let options = ConnectOptions(
            timeout: output.limit, limits: settings.limits, security: settings.access.security,
            latency: settings.latency, reconnection: settings.reconnection, logger: output.logger)
        let configure: @Sendable (ElementalDevice) -> Void = { device in
            if settings.wantsValues { values.withLock { $0 = device.values { arrivalTimes.note($0, $1, from: $2) } } }
            if settings.wantsValues { events.withLock { $0 = device.events() } }
            transfers.follow(device)
            if let onValue = settings.onValue {
                device.onAnyValue { element, value, _ in
                    arrivalTimes.note(element, value, from: device)
                    onValue()
                }
            }
        }
        let start = ContinuousClock.now
        let pairing = PairingAdvice(place: place, access: settings.access)
        do {
            return try await place.withConnection(
                as: settings.name, elements: settings.elements, options: options, configure: configure
            ) { device in
                output.logger.debug(
                    "connected",
                    metadata: ["device": "\(device)", "milliseconds": "\((.now - start) / .milliseconds(1))"])
                if settings.elements == nil { _ = try await device.catalogue(timeout: output.limit) }
                if let reason = device.disconnectReason { throw ended(device, reason) }
                output.logger.debug(
                    "elements known",
                    metadata: [
                        "count": "\(device.knownElements.count)", "hello": "\(device.hello != nil)",
                        "milliseconds": "\((.now - start) / .milliseconds(1))",
                    ])
                return try await body(
                    Client(
                        device: device, givenElements: settings.elements, place: place, finder: settings.finder,
                        pairing: pairing, console: console, values: values.withLock { $0 },
                        arrivalTimes: arrivalTimes, transfers: transfers, events: events.withLock { $0 }))
            }
        } catch let error as ElementalError {
            if let failure = pairing.explain(error) { throw failure }
            guard error.code == .catalogueUnavailable || error.code == .invalidCatalogue else { throw error }
            throw CommandFailure(error.code.description, settings.advice(error))
        }
    }

    /// The elements that can be used now.
    var elements: ElementCatalogue { givenElements ?? device.knownElements }

    /// Returns the elements with these names, or all readable ones if no name is given.
    ///
    /// - Throws: ``CommandFailure`` if an element cannot be read.
    func readable(_ names: [String]) throws -> [ElementDefinition] {
        guard !names.isEmpty else { return elements.elements.filter { $0.access.contains(.read) } }
        let wanted = try elements.elements(named: names, of: device.name)
        for element in wanted where !element.access.contains(.read) {
            throw CommandFailure(
                "notAllowed", "element '\(element.name)' is write-only: \(device.name) accepts values and sends none")
        }
        return wanted
    }

    static func ended(_ device: ElementalDevice, _ reason: DisconnectReason) -> CommandFailure {
        CommandFailure(reason.code, "the connection to \(device.name) has ended: \(reason)")
    }
}

extension ClientOptions {
    /// Finds the target, connects, runs `body` and closes the connection, also after an error.
    ///
    /// - Parameters:
    ///   - isNamed: whether each line of output names the service, because the command has several.
    ///   - takesFirst: whether to connect to the first service that is found; ``Client/finder`` then looks for others.
    func withClient<Result>(
        _ output: OutputOptions, _ console: Console, elements: ElementCatalogue?,
        programIdentity: ProgramIdentity? = nil,
        isNamed: Bool = false, takesFirst: Bool = false,
        _ configure: (inout Client.Settings) -> Void = { _ in }, run body: (Client) async throws -> Result
    ) async throws -> Result {
        var settings = Client.Settings(name: clientName)
        settings.elements = elements
        settings.limits = limits.device
        settings.access = try await security.load(for: programIdentity)
        configure(&settings)
        let target = try await target.followingAlias(for: settings.access)
        if takesFirst, case .service(let service, name: nil) = target {
            settings.finder = ServiceFinder(service: service, name: nil, output: output)
        }
        let place = try await ServicePlace.find(
            target, for: settings.access, output, isFirstEnough: takesFirst)
        let console = isNamed ? console.naming(ServiceKey(place)) : console
        return try await Client.with(place, settings, output, console) { client in
            // Stores the elements for completion while the command works. A programIdentity's elements are not typed by the user.
            async let noted: Void? = programIdentity == nil ? security.state.noteForCompletion(client) : nil
            let result = try await body(client)
            _ = await noted
            return result
        }
    }
}

extension ServiceKey {
    fileprivate init(_ place: ServicePlace) {
        switch place {
        case .found(let service): self.init(service)
        case .address(let host, let port): self.init(host: host, port: port)
        }
    }
}
