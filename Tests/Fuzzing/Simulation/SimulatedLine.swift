import NIOCore
import TestSupport

final class SimulatedLine {
    let client: SimulatedSocket
    let server: SimulatedSocket
    /// Nothing is transferred before this time; TCP loses nothing meanwhile.
    var stalledUntil = NIODeadline.uptimeNanoseconds(0)
    /// Since when nothing is transferred any more, without either end being notified.
    var silentSince: NIODeadline?

    /// The time after which the kernel's own probes detect a silent line.
    private static let probeTime = TimeAmount.seconds(150)

    init(client: SimulatedSocket, server: SimulatedSocket) {
        self.client = client
        self.server = server
    }

    var isOver: Bool { client.isClosed && server.isClosed }

    func step(at now: NIODeadline, _ random: inout SeededGenerator) {
        if silentSince == nil, now >= stalledUntil {
            move(client, server, &random)
            move(server, client, &random)
        }
        if let silentSince, now - silentSince > Self.probeTime { return reset() }
        client.deliver(&random)
        server.deliver(&random)
    }

    private func move(_ from: SimulatedSocket, _ to: SimulatedSocket, _ random: inout SeededGenerator) {
        if from.isResetting { return to.reset() }
        from.transfer(to: to, &random)
    }

    func reset() {
        client.reset()
        server.reset()
    }
}
