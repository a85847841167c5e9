import NIOCore
import NIOPosix
import Support

/// A serial device, or a pseudo-terminal in its place.
final class DescriptorLine: ReopenedLine {
    /// The source of descriptors.
    enum Source {
        /// A device, opened for each attempt.
        case device(path: String, baud: Int)
        /// A pseudo-terminal of this process, connected while its other end is open.
        case pseudoTerminal(descriptor: CInt, path: String, link: String?)
    }

    let name: String
    let eventLoop: any EventLoop
    var state = ReopenedLineState()
    private let source: Source

    /// How often to poll whether the pseudo-terminal has been opened: the system does not notify.
    private static let lookInterval = TimeAmount.milliseconds(50)

    private init(_ source: Source, _ eventLoop: any EventLoop) {
        self.source = source
        self.eventLoop = eventLoop
        switch source {
        case .device(let path, _): name = path
        case .pseudoTerminal(_, let path, let link): name = link ?? path
        }
    }

    /// A serial device. It may come and go.
    ///
    /// - Parameter mayBeAbsent: whether it need not exist now.
    /// - Throws: ``LineError`` if it cannot be opened.
    static func device(
        _ path: String, baud: Int, mayBeAbsent: Bool, on eventLoop: any EventLoop
    ) async throws(LineError) -> NIOLoopBound<any Line> {
        do throws(TerminalDevice.Failure) {
            let descriptor = try TerminalDevice.open(path, baud: baud)
            // It would stay exclusive while another program has it open too.
            _ = ioctl(descriptor, UInt(TIOCNXCL))
            close(descriptor)
        } catch {
            if !(mayBeAbsent && error.isAbsence) { throw LineError(error.text(path)) }
        }
        return await make(.device(path: path, baud: baud), eventLoop)
    }

    /// A pseudo-terminal.
    ///
    /// - Parameter link: the path of a symbolic link to it, so that its name is always the same.
    /// - Throws: ``LineError`` if it cannot be created.
    static func pseudoTerminal(
        link: String?, on eventLoop: any EventLoop
    ) async throws(LineError) -> NIOLoopBound<any Line> {
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
        return await make(.pseudoTerminal(descriptor: descriptor, path: path, link: link), eventLoop)
    }

    private static func make(_ source: Source, _ eventLoop: any EventLoop) async -> NIOLoopBound<any Line> {
        await eventLoop.run {
            let line: any Line = DescriptorLine(source, eventLoop)
            return NIOLoopBound(line, eventLoop: eventLoop)
        }
    }

    func stop() {
        end()
        if case .pseudoTerminal(let descriptor, let path, let link) = source {
            close(descriptor)
            // Another gateway may have replaced it with its own.
            if let link, Self.leads(link, to: path) { unlink(link) }
        }
    }

    private static func leads(_ link: String, to path: String) -> Bool {
        var target = [CChar](repeating: 0, count: path.utf8.count + 1)
        let count = readlink(link, &target, target.count)
        return count >= 0 && target[..<count].map { UInt8(bitPattern: $0) }.elementsEqual(path.utf8)
    }

    func open() {
        guard state.handler != nil else { return }
        do throws(TerminalDevice.Failure) {
            switch source {
            case .device(let path, let baud): adopt(try TerminalDevice.open(path, baud: baud))
            case .pseudoTerminal(let descriptor, _, _):
                guard TerminalDevice.isOpenAtOtherEnd(descriptor) else { return open(in: Self.lookInterval) }
                let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
                guard copy >= 0 else { throw TerminalDevice.Failure(number: errno) }
                adopt(copy)
            }
        } catch {
            lost(error.text(name))
        }
    }

    private func adopt(_ descriptor: CInt) {
        NIOPipeBootstrap(group: eventLoop)
            .channelOption(.writeBufferWaterMark, value: LineChannel.waterMark)
            .channelInitializer(initializer)
            .takingOwnershipOfDescriptor(inputOutput: descriptor)
            .assumeIsolated()
            .whenFailure { [self] error in
                close(descriptor)
                lost("\(name): \(error)")
            }
    }

    func lost(_ reason: String) {
        guard case .pseudoTerminal = source else { return retry(after: reason) }
        guard let handler = state.handler else { return }
        handler.lineLost(reason, retryIn: nil)
        open(in: Self.lookInterval)
    }
}
