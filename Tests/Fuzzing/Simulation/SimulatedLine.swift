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

    /// - Parameter enter: called before the program of an end runs.
    func step(
        at now: NIODeadline, _ random: inout SeededGenerator, entering enter: (SimulatedSocket) -> Void = { _ in }
    ) {
        if silentSince == nil, now >= stalledUntil {
            move(client, server, &random, enter)
            move(server, client, &random, enter)
        }
        if let silentSince, now - silentSince > Self.probeTime { return reset(entering: enter) }
        for socket in [client, server] {
            enter(socket)
            socket.deliver(&random)
        }
    }

    private func move(
        _ from: SimulatedSocket, _ to: SimulatedSocket, _ random: inout SeededGenerator,
        _ enter: (SimulatedSocket) -> Void
    ) {
        enter(from.isResetting ? to : from)
        if from.isResetting { return to.reset() }
        from.transfer(to: to, &random)
    }

    func reset(entering enter: (SimulatedSocket) -> Void = { _ in }) {
        for socket in [client, server] {
            enter(socket)
            socket.reset()
        }
    }
}
