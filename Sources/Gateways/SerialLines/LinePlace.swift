import NIOCore
import Support

/// Where a line is.
package enum LinePlace: Sendable, Hashable {
    /// A serial device, or a pseudo-terminal of another program. Its speed is one of ``TerminalDevice/bauds``. One that may
    /// be absent is waited for.
    case device(path: String, baud: Int, mayBeAbsent: Bool = false)
    /// A pseudo-terminal that this process makes, with a symbolic link to it if a path is given.
    case pseudoTerminal(link: String?)
    /// A TCP port to listen on, with or without VICE's framing for control signals.
    case listen(host: String, port: Int, usesIP232: Bool = false)
    /// A TCP port to connect to.
    case dial(host: String, port: Int)

    /// Makes the line. Its bytes flow from ``Line/start(_:)`` on.
    ///
    /// - Throws: ``LineError`` if the device cannot be opened now, or the port not be listened on.
    package func open(on eventLoop: any EventLoop) async throws(LineError) -> NIOLoopBound<any Line> {
        switch self {
        case .device(let path, let baud, let mayBeAbsent):
            return try await DescriptorLine.device(path, baud: baud, mayBeAbsent: mayBeAbsent, on: eventLoop)
        case .pseudoTerminal(let link): return try await DescriptorLine.pseudoTerminal(link: link, on: eventLoop)
        case .listen(let host, let port, let usesIP232):
            return try await TCPLine.listen(host: host, port: port, usesIP232: usesIP232, on: eventLoop)
        case .dial(let host, let port):
            do {
                try InvalidPort.check(port)
            } catch {
                throw LineError("cannot connect to \(host): \(error)")
            }
            return await eventLoop.run {
                let line: any Line = DialledLine(host: host, port: port, on: eventLoop)
                return NIOLoopBound(line, eventLoop: eventLoop)
            }
        }
    }
}
