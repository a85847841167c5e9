package import Logging
package import NIOCore

/// Pauses accepting while the process has no descriptors or memory left, until a delay has passed or ``goOn()`` is
/// called.
///
/// SwiftNIO reports the failure and retries at once, because the connection is still pending. Without the pause that
/// would occupy a whole core.
package final class AcceptPauseHandler: ChannelInboundHandler {
    package typealias InboundIn = any Channel

    private let logger: Logger
    private var backOff = BackOff(first: .milliseconds(100), maximum: .seconds(1))
    /// Set while accepting is paused.
    private var timer: Scheduled<Void>?
    private var context: ChannelHandlerContext?

    package init(logger: Logger = Logger(label: "elemental", factory: { _ in SwiftLogNoOpLogHandler() })) {
        self.logger = logger
    }

    package func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    package func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        backOff.reset()
        context.fireChannelRead(data)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, Self.isShortage(error.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        guard timer == nil else { return }
        let delay = TimeAmount(backOff.next())
        logger.warning(
            "cannot accept connections; raise the limit of open files (ulimit -n)",
            metadata: [
                "reason": "\(String(systemError: error.errnoCode))",
                "milliseconds": "\(delay.nanoseconds / 1_000_000)",
            ])
        accept(false, context)
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in goOn() }
    }

    package func goOn() {
        guard let context, let timer else { return }
        timer.cancel()
        self.timer = nil
        accept(true, context)
    }

    /// Stopping the pipeline's reads is not enough: the channel stays registered for the read that it requested. Only
    /// this option cancels the registration.
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
