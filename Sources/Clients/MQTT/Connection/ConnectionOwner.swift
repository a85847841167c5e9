/// Who made a connection and uses it: is told what happens to it, on its event loop.
protocol ConnectionOwner: AnyObject {
    /// The broker has accepted the connection.
    func connected(_ connection: ConnectionHandler)
    func received(_ message: MQTTMessage)
    /// The connection takes more messages.
    func drain()
    /// The connection has ended.
    ///
    /// - Parameter error: `nil` if that was wanted.
    func ended(_ error: MQTTError?)
}
