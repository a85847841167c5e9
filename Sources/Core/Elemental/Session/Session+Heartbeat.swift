import ElementalWire
import NIOCore

extension Session {
    /// Begins to watch a peer that is ready and has said that it answers pings.
    func startHeartbeat() {
        guard isReady, handshake.hasHello, heartbeat == nil, device.hello?.features.contains(.ping) == true else {
            return
        }
        guard let interval = device.limits.heartbeatInterval, let silence = device.limits.maximumSilence else { return }
        heartbeat = Heartbeat(interval: TimeAmount(interval), patience: TimeAmount(silence), now: .now())
        checkHeartbeat()
        // From now on pings tell whether the peer lives. The system's own watch would also end a connection whose peer
        // only takes its time to read.
        if let context { TCPWatch.release(context.channel) }
    }

    private func checkHeartbeat() {
        guard case .none = ending, let context else { return }
        let step = heartbeat?.step(at: .now(), listens: !device.isPaused, sentByteCount: writtenByteCount)
        switch step {
        case nil:
            return
        case .dead:
            let silence = device.limits.maximumSilence.map { "\($0)" } ?? ""
            logger.debug("the other end is dead", metadata: ["device": "\(device.name)", "silence": "\(silence)"])
            return breakOff(
                DisconnectReason(
                    .timedOut("nothing came from the other end for \(silence), not even an answer to a ping"),
                    isExpected: false))
        case .ping(let next):
            heartbeatSentAt = .now()
            sendSystem(.ping, repeatElement(0, count: MemoryLayout<UInt64>.size))
            flush()
            scheduleHeartbeat(next, context)
        case .wait(let next):
            scheduleHeartbeat(next, context)
        }
    }

    private func scheduleHeartbeat(_ time: NIODeadline, _ context: ChannelHandlerContext) {
        heartbeatTimer = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in checkHeartbeat() }
    }

    /// A pong came. Those of the heartbeat are numbered 0.
    func receivePong(_ value: UnsafeRawBufferPointer) {
        if let sent = heartbeatSentAt, value.count == 8, value.allSatisfy({ $0 == 0 }) {
            heartbeatSentAt = nil
            device.note(roundTrip: Duration(NIODeadline.now() - sent))
        } else {
            device.pings.answer(value)
        }
    }
}
