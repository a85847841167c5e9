/// What happens to a service.
public enum ServiceEvent: Sendable {
    /// It accepts connections at this port, TCP and, unless disabled, UDP.
    case listening(port: Int)
    /// It is on the network under this name, which may differ from the one asked for if another service has that.
    case published(name: String)
    /// It could not be published; it listens all the same and tries again after the given time.
    case failedToPublish(ElementalError, retryIn: Duration)
    /// A device is connected and has told its name.
    case deviceConnected(ElementalDevice)
    /// A device is gone.
    case deviceDisconnected(ElementalDevice, DisconnectReason)
    /// It does not accept connections any more.
    case stopped
}
