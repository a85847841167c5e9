/// How a message is delivered.
public enum MQTTQoS: UInt8, Sendable, Hashable {
    /// Sent once; lost if the connection breaks.
    case atMostOnce = 0
    /// Acknowledged by the receiver, which may get it twice.
    case atLeastOnce = 1
}
