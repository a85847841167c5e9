import ElementalWire

/// Creates a session and is notified of its events, on its event loop: a service, or a client that connects.
protocol SessionOwner: AnyObject {
    /// The TCP connection is open; nothing was exchanged yet.
    func sessionOpened(_ session: Session)
    /// Whether a client is admitted by its name: before it arrives, the client's values do not count and its hello is
    /// not answered.
    var decidesByName: Bool { get }
    /// The client sent its name. Returns a reason to refuse it, or `nil`.
    func session(_ session: Session, refuses name: String) -> String?
    /// The peer sent a hello.
    func session(_ session: Session, received hello: Hello)
    /// The incomplete values of the connection hold this many bytes more than before; negative if they hold fewer.
    /// Returns the consequence if they hold too many.
    func session(_ session: Session, gathers byteCount: Int) -> GatheringExcess?
    /// An incomplete value of this length was left out.
    func session(_ session: Session, leavesOut element: ElementDefinition, byteCount: Int)
    /// A value received from the peer was rejected.
    func session(_ session: Session, refuses id: Int8, _ reason: ValueRefusal.Reason)
    /// Values can be sent and received from now on.
    func sessionIsReady(_ session: Session)
    /// A session that was ready begins to end. Returns whether a replacement connection will follow, so that the device
    /// continues.
    func sessionIsClosing(_ session: Session, _ reason: DisconnectReason) -> Bool
    /// The session has ended. The owner ends the device unless it continues.
    func sessionEnded(_ session: Session, _ reason: DisconnectReason)
}
