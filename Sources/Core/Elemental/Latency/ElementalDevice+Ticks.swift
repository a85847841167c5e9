public import NIOCore

extension ElementalDevice {
    /// Calls `handler` at a fixed rate on the connection's event loop: a control loop.
    ///
    /// ```swift
    /// robot.onTick(every: .milliseconds(1)) { due, robot in
    ///     try? robot.send(controller.step(at: due), to: Robot.torque)
    /// }
    /// ```
    /// The first call is made at once; each further one is due a whole number of periods later. If the loop was busy
    /// for several periods, they cause only one call. What a call sends is written when it returns. Like other handlers
    /// it must not block.
    ///
    /// With ``Latency/lowest`` calls are only some microseconds late, because the loop is awake when they are due. Otherwise
    /// a timer of the system wakes the loop, on Linux 50 to 100 µs later.
    ///
    /// - Parameters:
    ///   - period: from one call to the next, at least 10 µs.
    ///   - handler: receives the newest time at which a call was due. It is also called while the device reconnects,
    ///     until the device has ended or the registration is cancelled. If another thread cancels it, a call that is
    ///     due may still follow.
    @discardableResult
    public func onTick(
        every period: Duration, perform handler: @escaping @Sendable (_ due: NIODeadline, ElementalDevice) -> Void
    ) -> HandlerRegistration {
        let ticker = NIOLoopBoundBox.makeBoxSendingValue(
            Ticker(on: eventLoop, every: period) { [self] due in
                if let connection = outbound.withLock({ $0.link }) {
                    connection.handler.value.batch { handler(due, self) }
                } else {
                    handler(due, self)
                }
            }, eventLoop: eventLoop)
        eventLoop.execute { ticker.value.start() }
        let cancel: @Sendable () -> Void = { [eventLoop] in
            if eventLoop.inEventLoop { ticker.value.stop() } else { eventLoop.execute { ticker.value.stop() } }
        }
        let ending = addEnding { _ in cancel() }
        return HandlerRegistration {
            ending.cancel()
            cancel()
        }
    }
}
