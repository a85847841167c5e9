import ElementalSecurity
import ElementalWire
import Logging
import NIOCore
import Support

/// A service that a client connects to, and the settings that its connections share.
struct Connector: Sendable {
    let place: ServicePlace
    let ownName: String
    /// `nil` to use the elements that the service announces.
    var elements: ElementCatalogue?
    let options: ConnectOptions
    var configure: @Sendable (ElementalDevice) -> Void = { _ in }

    /// The service's instance name, or the host and port.
    var peerName: String { place.discovered?.name ?? place.target }
    /// The name by which Zeroconf finds the service again.
    var service: String? { place.discovered?.service }
    var saysHello: Bool { place.discovered?.saysHello ?? options.expectsHello }
    var logger: Logger { options.logger.printable }

    func connect() async throws(ElementalError) -> ElementalDevice {
        guard !ownName.isEmpty else {
            throw ElementalError(.invalidValue, "a client needs a name, by which the service shows it")
        }
        try checkPort()
        let device = makeDevice(on: options.eventLoopGroup.next())
        try await device.connect(closesWhenCancelled: true)
        return device
    }

    func checkPort() throws(ElementalError) {
        guard case .address(_, let port) = place else { return }
        do {
            try InvalidPort.check(port)
        } catch {
            throw ElementalError(.invalidValue, "cannot connect to \(place.endpoint.text): \(error)")
        }
    }

    private func makeDevice(on eventLoop: any EventLoop) -> ElementalDevice {
        var limits = options.limits
        limits.handshakeTimeout = options.timeout
        let device = ElementalDevice(
            role: .service, name: peerName, address: nil, service: service, elements: ElementTable(elements ?? []),
            executor: LoopExecutor(on: eventLoop), limits: limits, logger: logger,
            manager: .makeBoxSendingValue(ClientConnectionManager(self, on: eventLoop), eventLoop: eventLoop),
            metrics: .current(service: service ?? "", device: peerName, role: "client"))
        device.state.withLock { state in
            state.inbound.keepsLongValues = options.keepsLongValues
            state.inbound.memory = options.memory
        }
        return device
    }

    /// - Parameter sighted: where Zeroconf has found the service since, perhaps under another name.
    func target(_ sighted: DiscoveredService? = nil) -> ConnectionTarget {
        guard let found = sighted ?? place.discovered else { return ConnectionTarget(place.endpoint) }
        var target = ConnectionTarget(found)
        target.instance = peerName
        return target
    }
}
