import NIOCore
import NIOPosix

/// A TCP port that is dialled, as an emulator or an adapter on the network has one.
final class DialledLine: ReopenedLine {
    let name: String
    let eventLoop: any EventLoop
    var state = ReopenedLineState()
    private let host: String
    private let port: Int

    init(host: String, port: Int, on eventLoop: any EventLoop) {
        self.host = host
        self.port = port
        self.eventLoop = eventLoop
        name = "\(host):\(port)"
    }

    func stop() { end() }

    func open() {
        guard state.handler != nil else { return }
        ClientBootstrap(group: eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer(initializer)
            .connect(host: host, port: port)
            .assumeIsolated()
            .whenFailure { [self] _ in lost("nothing answers at \(name)") }
    }

    func lost(_ reason: String) { retry(after: reason) }
}
