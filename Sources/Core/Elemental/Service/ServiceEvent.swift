import Support

/// An event of a service.
public enum ServiceEvent: Sendable {
    /// The service accepts connections at this port, over TCP and, unless disabled, UDP.
    case listening(port: Int)
    /// The system closed one of the service's sockets, or it could not be reopened; the next attempt follows after the
    /// given time. ``listening(port:)`` follows once it works. Connections stay open meanwhile.
    case failedToListen(ElementalError, retryIn: Duration)
    /// The service is published under this name, which differs from the requested one if another service has that.
    case published(name: String)
    /// The service could not be published; it keeps listening and retries after the given time.
    case failedToPublish(ElementalError, retryIn: Duration)
    /// A device is connected and ready, and has usually sent its name.
    case deviceConnected(ElementalDevice)
    /// A device has disconnected.
    case deviceDisconnected(ElementalDevice, DisconnectReason)
    /// The state of pairing has changed.
    case pairing(PairingEvent)
    /// The store of trusted clients cannot be read. Until ``trustAvailable``, the service admits and keeps only clients
    /// without pairing, as far as its policy allows. The message says what to do.
    case trustUnavailable(ElementalError)
    /// The store of trusted clients can be read again.
    case trustAvailable
    /// Values of elements with a history can no longer be written to files. The service continues with those in memory
    /// and retries every minute. The message says what to do.
    case historyUnavailable(SecurityError)
    /// Values can be written to files again, and those that were kept in memory meanwhile are written too.
    case historyAvailable
    /// The service stops because it cannot go on, for instance because its identity was replaced.
    /// ``ElementalService/run()`` throws the same error.
    case failed(ElementalError)
    /// The service no longer accepts connections.
    case stopped
}

extension ServiceEvent: CustomStringConvertible {
    /// A line for a log: `listening on port 5000`, `connected: Rob's iPhone (192.168.1.7:51234)`. It never contains a
    /// pairing code. Names and reasons from other programs are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .listening(let port): "listening on port \(port)"
        case .failedToListen(let error, let delay): "not listening: \(error); retrying in \(delay)"
        case .published(let name): "published as '\(name)'"
        case .failedToPublish(let error, let delay): "not published: \(error); retrying in \(delay)"
        case .deviceConnected(let device): "connected: \(device)"
        case .deviceDisconnected(let device, let reason): "disconnected: \(device), \(reason)"
        case .pairing(let event): "\(event)"
        case .trustUnavailable(let error): "trusts no clients: \(error)"
        case .trustAvailable: "trusted clients can be read again"
        case .historyUnavailable(let error): "values are not written to files: \(error)"
        case .historyAvailable: "values are written to files again"
        case .failed(let error): "failed: \(error)"
        case .stopped: "stopped"
        }
    }
}

extension PairingEvent: CustomStringConvertible {
    /// A line for a log: `paired: 'Rob's iPhone'`. It never contains the code. Names from other programs are escaped.
    public var description: String { text.printable }

    private var text: String {
        switch self {
        case .opened: "pairing is open"
        case .openedByAdmin: "pairing was opened over the network"
        case .closed: "pairing is over"
        case .paired(let client): "paired: '\(client.name)'"
        case .failed(_, let error): "not paired: \(error)"
        }
    }
}
