import NIOCore
import NIOPosix
import SerialLines
import Support
import VirtualCommodore

/// A virtual Commodore on a thread of its own, running at original speed.
///
/// The machine is used on its own event loop only; the two loops exchange bytes by submitting work to each other.
final class VirtualLine: Line {
    let name = "virtual Commodore"
    private let machine: VirtualMachine
    private let eventLoop: any EventLoop
    private weak var handler: (any LineHandler)?
    private var backOff = BackOff.line

    init(_ machine: VirtualMachine, on eventLoop: any EventLoop) {
        self.machine = machine
        self.eventLoop = eventLoop
    }

    var isWritable: Bool { true }

    func start(_ handler: any LineHandler) {
        self.handler = handler
        handler.lineChanged(.ready(name))
        open()
    }

    private func open() {
        guard let handler else { return }
        handler.lineChanged(.opened)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        machine.start { [eventLoop] event in eventLoop.execute { bound.value.take(event) } }
    }

    private func take(_ event: VirtualMachine.Event) {
        guard let handler else { return }
        switch event {
        case .bytes(let bytes): handler.lineReceived(ByteBuffer(bytes: bytes).readableBytesView)
        case .terminalReady(let isReady): handler.lineTerminalReady(isReady)
        case .stopped(let reason):
            let delay = backOff.next()
            handler.lineChanged(.lost(reason, retryIn: delay))
            eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in self?.open() }
        }
    }

    func write(_ bytes: [UInt8]) { machine.change { $0.line.send(bytes) } }

    // Swift 6.2's optimizer crashes on this method.
    @_optimize(none)
    func setCarrier(_ isOn: Bool) { machine.change { $0.line.dcd = isOn } }

    func stop() {
        handler = nil
        machine.stop()
    }
}
