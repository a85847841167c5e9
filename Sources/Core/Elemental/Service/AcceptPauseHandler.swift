import Logging
package import NIOCore
import Support

/// Keeps a server channel from trying to accept without end when the process has no descriptor or memory left for it.
///
/// SwiftNIO reports such a failure and goes on at once, since the connection still waits: a whole core would do nothing
/// else. This handler of the server channel stops accepting for a while, or until ``goOn()``.
package final class AcceptPauseHandler: ChannelInboundHandler {
    package typealias InboundIn = any Channel

    private let logger: Logger
    private var pause = AcceptPause()
    private var timer: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    /// A handler for one server channel.
    package init(logger: Logger = Logger(label: "elemental", factory: { _ in SwiftLogNoOpLogHandler() })) {
        self.logger = logger
    }

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    package func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        pause.succeed()
        context.fireChannelRead(data)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, Self.isShortage(error.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        guard let delay = pause.begin() else { return }
        logger.warning(
            "no connection can be accepted; raise the limit of open files (ulimit -n)",
            metadata: [
                "reason": "\(String(systemError: error.errnoCode))",
                "milliseconds": "\(delay.nanoseconds / 1_000_000)",
            ])
        accept(false, context)
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in goOn() }
    }

    /// A connection was closed: there is a descriptor again.
    package func goOn() {
        guard let context, pause.end() else { return }
        timer?.cancel()
        accept(true, context)
    }

    /// Withholding the pipeline's reads would not do: after a failure the channel stays registered for what it has
    /// asked for. Only this option takes that back.
    private func accept(_ isOn: Bool, _ context: ChannelHandlerContext) {
        try? context.channel.syncOptions?.setOption(.autoRead, value: isOn)
    }

    private static func isShortage(_ code: CInt) -> Bool {
        switch code {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: true
        default: false
        }
    }
}
