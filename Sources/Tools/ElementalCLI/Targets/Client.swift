import Elemental
import Logging

/// A connection to the service that a target means, with the elements that can be used.
struct Client: Sendable {
    typealias Values = ElementValues<ArrivedValue>

    let device: ElementalDevice
    let elements: ElementCatalogue
    /// All values from the first on, if they were asked for.
    let values: Values?
    /// When the newest values came.
    let arrivalTimes: ArrivalTimes
    /// The large values that are on their way.
    let transfers: Transfers
    /// What happens to the connection, if it is made anew when it is lost.
    let events: AsyncStream<DeviceEvent>?

    /// How long a service that was not found by Zeroconf may take to say hello before it counts as an older one, which
    /// never does. Only what depends on it waits: nothing else is held up.
    private static let helloTime: Duration = .milliseconds(500)

    /// Finds the service, connects, learns its elements, runs `body` and closes the connection however that ends.
    ///
    /// - Parameters:
    ///   - elements: the elements to use; `nil` for those that the service tells.
    ///   - limits: what the service may take of this process.
    ///   - wantsValues: whether ``values`` is wanted, which must then be read: unread values hold up the connection.
    ///   - showsIncoming: whether the progress of large values from the service is shown, its own echoes among them.
    ///   - reconnection: when to connect again; `nil` for never.
    ///   - advice: what a person can do if the service does not tell its elements.
    ///   - onValue: called on the connection's event loop with every value.
    static func with<Result>(
        _ target: Target, as name: String, _ output: OutputOptions, _ console: Console, elements: ElementCatalogue?,
        limits: DeviceLimits = DeviceLimits(), wantsValues: Bool = false, showsIncoming: Bool = true,
        reconnection: (any ReconnectionPolicy)? = nil, advice: ElementAdvice = .option,
        onValue: (@Sendable () -> Void)? = nil, _ body: (Client) async throws -> Result
    ) async throws -> Result {
        try await with(
            Place.find(target, output), as: name, output, console, elements: elements, limits: limits,
            wantsValues: wantsValues, showsIncoming: showsIncoming, reconnection: reconnection, advice: advice,
            onValue: onValue, body)
    }

    /// Connects to a service that was found, learns its elements, runs `body` and closes the connection however that ends.
    static func with<Result>(
        _ place: Place, as name: String, _ output: OutputOptions, _ console: Console, elements: ElementCatalogue?,
        limits: DeviceLimits = DeviceLimits(), wantsValues: Bool = false, showsIncoming: Bool = true,
        reconnection: (any ReconnectionPolicy)? = nil, advice: ElementAdvice = .option,
        onValue: (@Sendable () -> Void)? = nil, _ body: (Client) async throws -> Result
    ) async throws -> Result {
        let box = Box()
        let arrivalTimes = ArrivalTimes()
        let transfers = Transfers(console, showsIncoming: showsIncoming)
        var connecting = ConnectOptions()
        connecting.timeout = output.limit
        connecting.limits = limits
        connecting.logger = output.logger
        connecting.reconnection = reconnection
        let configure: @Sendable (ElementalDevice) -> Void = { device in
            if wantsValues { box.values.withLock { $0 = device.values { arrivalTimes.note($0, $1) } } }
            if reconnection != nil { box.events.withLock { $0 = device.events } }
            transfers.follow(device)
            if let onValue {
                device.onAnyValue { element, value, _ in
                    arrivalTimes.note(element, value)
                    onValue()
                }
            }
        }
        let start = ContinuousClock.now
        do {
            return try await place.withConnection(
                as: name, elements: elements, options: connecting, configure: configure
            ) { device in
                output.logger.debug(
                    "connected",
                    metadata: ["device": "\(device)", "milliseconds": "\((.now - start) / .milliseconds(1))"])
                if elements == nil { _ = try await device.catalogue(timeout: output.limit) }
                if let reason = device.disconnectReason { throw ended(device, reason) }
                output.logger.debug(
                    "elements known",
                    metadata: [
                        "count": "\((elements ?? device.knownElements).count)", "hello": "\(device.hello != nil)",
                        "milliseconds": "\((.now - start) / .milliseconds(1))",
                    ])
                return try await body(
                    Client(
                        device: device, elements: elements ?? device.knownElements, values: box.values.withLock { $0 },
                        arrivalTimes: arrivalTimes, transfers: transfers, events: box.events.withLock { $0 }))
            }
        } catch let error as ElementalError {
            throw advice.explain(error)
        }
    }

    private final class Box: Sendable {
        let values = Locked<Values?>(nil)
        let events = Locked<AsyncStream<DeviceEvent>?>(nil)
    }

    /// Waits until the service has said hello and told its elements, or is taken for an older one.
    func waitForHello(_ timeout: Duration) async {
        guard device.hello == nil else { return }
        _ = try? await device.catalogue(timeout: min(Self.helloTime, timeout))
    }

    /// Waits until the service has handled all that was sent to it, as far as it can be known.
    ///
    /// An older service answers no ping; closing the connection in order is all that can be done then.
    func settle(over transport: Transport = .tcp, timeout: Duration) async throws(ElementalError) {
        await waitForHello(timeout)
        if let reason = device.disconnectReason {
            throw ElementalError(.notConnected, "the connection to \(device.name) has ended: \(reason)")
        }
        guard device.hello?.features.contains(.ping) == true else { return }
        _ = try await device.ping(over: transport, timeout: timeout)
    }

    /// The connection's end as a failure.
    static func ended(_ device: ElementalDevice, _ reason: DisconnectReason) -> CommandFailure {
        CommandFailure(reason.code, "the connection to \(device.name) has ended: \(reason)")
    }
}
