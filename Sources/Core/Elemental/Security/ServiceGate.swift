public import ElementalSecurity
public import ElementalWire
import Logging
import NIOCore
import Support

/// Starts the sessions of a service's connections.
protocol ServiceGateOwner: AnyObject {
    /// - Parameter client: `nil` if the connection is not encrypted.
    func begin(_ channel: any Channel, for client: AuthorisedClient?) throws
    var admitsPlainClients: Bool { get }
    func gateReported(_ event: PairingEvent)
}

/// Holds the connections of a service that offers encryption until their peers are known. On the service's event loop.
final class ServiceGate {
    /// How long a client may be silent before it counts as a plain one that waits for the service to send first. Those
    /// clients wait for 3 s. A client of this framework sends at once, and this leaves time for its first packet to be
    /// lost twice.
    static let silence = TimeAmount.seconds(1)

    let timeout: TimeAmount
    let tls: TLSIdentity
    let trust: TrustWatch
    let logger: Logger
    var window = PairingWindow()
    private let service: String
    private var reportedWindow: Int?
    private var windowTimer: Scheduled<Void>?
    let limits: AcceptLimits
    private weak var owner: (any ServiceGateOwner)?
    private var isClosed = false
    private var waiting: [ObjectIdentifier: ServiceGateHandler] = [:]

    init(
        _ keys: ServiceKeys, service: String, timeout: Duration, on eventLoop: any EventLoop, logger: Logger,
        owner: any ServiceGateOwner
    ) {
        self.timeout = TimeAmount(timeout)
        tls = keys.tls
        limits = keys.limits
        trust = TrustWatch(keys, service: service, on: eventLoop, logger: logger)
        self.service = service
        self.logger = logger
        self.owner = owner
    }

    func accept(_ channel: any Channel) throws {
        guard !isClosed else { return channel.close(promise: nil) }
        let handler = ServiceGateHandler(self, ObjectIdentifier(channel))
        waiting[ObjectIdentifier(channel)] = handler
        try channel.pipeline.syncOperations.addHandler(handler)
    }

    func remove(_ id: ObjectIdentifier) {
        waiting[id] = nil
        limits.waste(id)
    }

    /// Stops counting a connection, unless its plain session can only refuse the client.
    func admit(_ id: ObjectIdentifier, _ client: AuthorisedClient?) {
        if client != nil || owner?.admitsPlainClients == true { limits.remove(id) }
    }

    func begin(_ channel: any Channel, for client: AuthorisedClient?) throws {
        guard let owner else { return channel.close(promise: nil) }
        try owner.begin(channel, for: client)
    }

    func makeAdmission(of client: Fingerprint, on channel: any Channel) -> ServiceAdmission {
        let trust = NIOLoopBound(trust, eventLoop: trust.eventLoop)
        return ServiceAdmission(
            service: service, own: tls.fingerprint, peer: client, isLoopback: Self.isLoopback(channel),
            storedRole: { client throws(AdmissionRefusal) in try trust.value.storedRole(of: client) })
    }

    /// Whether the peer is on this host. A connection to an address of the host's own interfaces, where Zeroconf finds
    /// the service, has that address at both ends and uses the loopback interface as well.
    private static func isLoopback(_ channel: any Channel) -> Bool {
        guard let peer = channel.remoteAddress.flatMap({ IPAddress($0) }) else { return false }
        return peer.isLoopback || peer == channel.localAddress.flatMap({ IPAddress($0) })
    }

    func store(_ client: PairedClient) -> EventLoopFuture<Void> {
        let trusted = TrustedClient(
            fingerprint: client.fingerprint, name: client.name, role: client.role, services: [service],
            pairedBy: client.pairedBy)
        let own = tls.fingerprint
        let storing = trust.update { try $0.pin(trusted, own: own) }.assumeIsolated()
        storing.whenComplete { [self] result in
            switch result {
            case .success: owner?.gateReported(.paired(trusted))
            case .failure(let error):
                let text = "'\(trusted.name)' is not paired, because it cannot be stored: \(error)"
                owner?.gateReported(.failed(trusted, ElementalError(.notPaired, text)))
            }
        }
        return storing.nonisolated()
    }

    func revoke(
        _ client: Fingerprint, by admin: Fingerprint
    ) -> EventLoopFuture<(pairedCount: Int, paired: [PairedName])> {
        let own = tls.fingerprint
        return trust.update { [service] peers in
            let letIn = try peers.revoke(client: client, of: service, by: admin, own: own).letIn
            return (letIn.count, letIn.map { PairedName(fingerprint: $0.fingerprint, name: $0.name) })
        }
    }

    func openPairing(_ kind: PairingSecret.Kind, for duration: Duration, role: Role) {
        guard !isClosed else { return }
        let secret = window.open(kind, for: duration, role: role, at: .now)
        reportedWindow = window.state?.number
        let left = window.state.map { $0.deadline - .now } ?? duration
        owner?.gateReported(.opened(secret, for: left, role: role))
        windowChanged()
    }

    func closePairing() {
        window.close()
        windowChanged()
    }

    /// Reports that the pairing window was opened or closed, and schedules its next change.
    ///
    /// - Returns: whether an admin has opened the window.
    @discardableResult
    func windowChanged() -> Bool {
        var isOpenedByAdmin = false
        if window.state?.number != reportedWindow {
            reportedWindow = window.state?.number
            isOpenedByAdmin = reportedWindow != nil
            owner?.gateReported(isOpenedByAdmin ? .openedByAdmin : .closed)
        }
        windowTimer?.cancel()
        guard let change = window.nextChange else { return isOpenedByAdmin }
        windowTimer = trust.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(change - .now)) { [self] in
            window.update(at: .now)
            windowChanged()
        }
        return isOpenedByAdmin
    }

    func close() {
        isClosed = true
        closePairing()
        trust.stop()
        for handler in waiting.values { handler.close() }
    }
}

/// An event of a service's pairing window.
public enum PairingEvent: Sendable {
    /// The window is open. Show the code or secret to the user at the client, and nowhere else.
    case opened(PairingSecret, for: Duration, role: Role)
    /// An admin has opened the window over the network, and shows the code there.
    case openedByAdmin
    /// Clients can no longer pair.
    case closed
    /// A client has paired.
    case paired(TrustedClient)
    /// A client has given the right code and could not be stored. The window is closed.
    case failed(TrustedClient, ElementalError)
}
