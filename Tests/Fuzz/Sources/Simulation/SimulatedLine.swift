import NIOCore

/// A simulated TCP connection between two sockets.
final class SimulatedLine {
    let client: SimulatedSocket
    let server: SimulatedSocket
    /// Nothing passes before then; TCP loses nothing meanwhile.
    var stalledUntil = NIODeadline.uptimeNanoseconds(0)
    /// When nothing passes any more, of which neither end is told.
    var silentSince: NIODeadline?

    /// Then the kernel's own probes find out.
    private static let probeTime = TimeAmount.seconds(150)

    init(client: SimulatedSocket, server: SimulatedSocket) {
        self.client = client
        self.server = server
    }

    var isOver: Bool { client.isClosed && server.isClosed }

    func step(at now: NIODeadline, _ random: inout SeededRandom) {
        if silentSince == nil, now >= stalledUntil {
            move(client, server, &random)
            move(server, client, &random)
        }
        if let silentSince, now - silentSince > Self.probeTime { return reset() }
        client.deliver(&random)
        server.deliver(&random)
    }

    private func move(_ from: SimulatedSocket, _ to: SimulatedSocket, _ random: inout SeededRandom) {
        if from.isResetting { return to.reset() }
        from.transfer(to: to, &random)
    }

    /// Both ends are told that the connection is gone.
    func reset() {
        client.reset()
        server.reset()
    }
}
