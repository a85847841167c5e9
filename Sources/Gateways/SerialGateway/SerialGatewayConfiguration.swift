public import Elemental

/// How a gateway publishes the device on its line.
public struct SerialGatewayConfiguration: Sendable {
    /// The name of the service; `nil` for the device's own.
    public var serviceName: String?
    /// The instance's name that people see; `nil` for the device's own, or the host's and the line's if it has none.
    public var displayName: String?
    /// Whether a device that was away is told the newest values that clients set. Without it a motor does not start by
    /// itself after a reset.
    public var restores = false
    /// How long a service stays published without its device, so that a reset does not disconnect its clients.
    public var absence: Duration = .seconds(3)
    /// How the service listens, publishes and limits its clients.
    public var service = ServiceConfiguration()

    /// The defaults: the device's own names, nothing restored, three seconds of absence.
    public init() {}
}
