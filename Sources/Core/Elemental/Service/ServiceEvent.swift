/// An event of a service.
public enum ServiceEvent: Sendable {
    /// It accepts connections at this port, TCP and, unless disabled, UDP.
    case listening(port: Int)
    /// A socket that it listens on was closed by the system, or could not be opened again; the next attempt follows after the
    /// given time. Once it listens again, ``listening(port:)`` follows. Connections last meanwhile.
    case failedToListen(ElementalError, retryIn: Duration)
    /// It is published under this name, which may differ from the requested one if another service has that.
    case published(name: String)
    /// It could not be published; it keeps listening and retries after the given time.
    case failedToPublish(ElementalError, retryIn: Duration)
    /// A device has connected and is ready; as a rule it has sent its name.
    case deviceConnected(ElementalDevice)
    /// A device has disconnected.
    case deviceDisconnected(ElementalDevice, DisconnectReason)
    /// Something happened about pairing.
    case pairing(PairingEvent)
    /// Whom it trusts cannot be read: it admits and keeps only clients without pairing, as far as its policy does, until
    /// ``trustAvailable``. The message says what to do.
    case trustUnavailable(ElementalError)
    /// Whom it trusts can be read again.
    case trustAvailable
    /// It cannot go on, for instance because its identity was replaced, and stops. ``ElementalService/run()`` throws the
    /// same error.
    case failed(ElementalError)
    /// It no longer accepts connections.
    case stopped
}
