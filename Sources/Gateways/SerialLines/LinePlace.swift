import NIOCore
import Support

/// The place of a line: a device, a pseudo-terminal or a TCP port.
package enum LinePlace: Sendable, Hashable {
    /// A serial device, or a pseudo-terminal of another program. Its speed is one of ``TerminalDevice/bauds``. The line
    /// waits for a device that may be absent. Flow control is RTS/CTS.
    case device(path: String, baud: Int, usesFlowControl: Bool = false, mayBeAbsent: Bool = false)
    /// A pseudo-terminal that this process creates, with a symbolic link to it if a path is given.
    case pseudoTerminal(link: String?)
    /// A TCP port to listen on, with or without VICE's framing for control signals.
    case listen(host: String, port: Int, usesIP232: Bool = false)
    /// A TCP port to connect to.
    case dial(host: String, port: Int)

    /// Creates the line. Bytes flow after ``Line/start(_:)``.
    ///
    /// - Throws: ``LineError`` if the device cannot be opened now, or the port cannot be listened on.
    package func open(on eventLoop: any EventLoop) async throws(LineError) -> NIOLoopBound<any Line> {
        let source: ReopenedLine.Source
        switch self {
        case .device(let path, let baud, let usesFlowControl, let mayBeAbsent):
            do throws(TerminalDevice.Failure) {
                try TerminalDevice.check(path, baud: baud)
            } catch {
                if !(mayBeAbsent && error.isAbsence) { throw LineError(error.text(path)) }
            }
            source = .device(path: path, baud: baud, usesFlowControl: usesFlowControl)
        case .pseudoTerminal(let link): source = try Self.makePseudoTerminal(link: link)
        case .listen(let host, let port, let usesIP232):
            return try await TCPLine.listen(host: host, port: port, usesIP232: usesIP232, on: eventLoop)
        case .dial(let host, let port):
            do {
                try InvalidPort.check(port)
            } catch {
                throw LineError("cannot connect to \(host): \(error)")
            }
            source = .port(host: host, port: port)
        }
        return await eventLoop.run {
            NIOLoopBound(ReopenedLine(source, on: eventLoop) as any Line, eventLoop: eventLoop)
        }
    }

    private static func makePseudoTerminal(link: String?) throws(LineError) -> ReopenedLine.Source {
        let descriptor: CInt
        let path: String
        do throws(TerminalDevice.Failure) {
            (descriptor, path) = try TerminalDevice.makePseudoTerminal()
        } catch {
            throw LineError("cannot create a pseudo-terminal: " + error.text("/dev/ptmx"))
        }
        if let link {
            var status = stat()
            // Only a symbolic link of an earlier run is replaced.
            if lstat(link, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { unlink(link) }
            guard symlink(path, link) == 0 else {
                let reason = String(systemError: errno)
                close(descriptor)
                throw LineError("cannot create the link \(link): \(reason)")
            }
        }
        return .pseudoTerminal(descriptor: descriptor, path: path, link: link)
    }
}
