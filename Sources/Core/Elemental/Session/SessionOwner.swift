import ElementalWire

/// Who made a session and is told, on its event loop, what happens to it: a service, or a client that connects.
protocol SessionOwner: AnyObject {
    /// The TCP connection is there; nothing was exchanged yet.
    func sessionOpened(_ session: Session)
    /// The client told its name. The answer is a reason to refuse it, or `nil`.
    func session(_ session: Session, refuses name: String) -> String?
    /// The peer said hello.
    func session(_ session: Session, received hello: Hello)
    /// The incomplete values of the connection take so many bytes more than before, or fewer if it is negative. The
    /// answer is a reason to end it, or `nil`.
    func session(_ session: Session, gathers byteCount: Int) -> String?
    /// A value of the peer's is not handed on.
    func session(_ session: Session, refuses id: Int8, _ reason: ValueRefusal.Reason)
    /// Values can be sent and are about to come.
    func sessionIsReady(_ session: Session)
    /// A session that was ready begins to end. The answer is whether another is to take its place, so that the device
    /// goes on.
    func sessionIsClosing(_ session: Session, _ reason: DisconnectReason) -> Bool
    /// It is over. The owner ends the device unless that goes on.
    func sessionEnded(_ session: Session, _ reason: DisconnectReason)
}
