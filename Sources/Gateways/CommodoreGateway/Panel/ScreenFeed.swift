import Elemental
import NIOCore
import NIOPosix
import VirtualCommodore

#if canImport(FoundationEssentials)
import struct FoundationEssentials.Data
#else
import struct Foundation.Data
#endif

/// Sends the virtual machine's picture to the connected clients whenever it has changed. Used on the gateway's event
/// loop only.
///
/// Pictures are rendered and compressed on another thread, except the first picture for the first client. That picture
/// must be ready before the client receives the current values, and no other client has to wait for it. It takes half a
/// millisecond, or one for a picture of noise.
final class ScreenFeed {
    static let interval = TimeAmount.milliseconds(100)

    private(set) var renderedCount = 0
    private let machine: VirtualMachine
    private let service: ElementalService
    private let eventLoop: any EventLoop
    private var timer: Scheduled<Void>?
    private var shown: Picture?
    private var nextTime = NIODeadline.uptimeNanoseconds(0)
    private var isRendering = false
    /// Incremented when a picture that is being rendered becomes outdated.
    private var turn = 0
    private var isStopped = false

    init(_ machine: VirtualMachine, service: ElementalService, eventLoop: any EventLoop) {
        self.machine = machine
        self.service = service
        self.eventLoop = eventLoop
    }

    func clientsChanged() {
        if service.devices.isEmpty {
            timer?.cancel()
            timer = nil
        } else if timer == nil {
            schedule()
        }
    }

    /// Updates the element for the first client, which is about to connect.
    func refresh() {
        let now = NIODeadline.now()
        guard !isStopped, service.devices.isEmpty, now >= nextTime, let snapshot = machine.snapshot else { return }
        nextTime = now + Self.interval
        turn += 1
        renderedCount += 1
        let picture = snapshot.picture()
        if picture != shown { show(picture, Data(picture.png())) }
    }

    func stop() {
        isStopped = true
        timer?.cancel()
        timer = nil
    }

    private func schedule() {
        guard !isStopped else { return }
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: max(nextTime, .now())) { [weak self] in
            guard let self else { return }
            timer = nil
            render()
            if !service.devices.isEmpty { schedule() }
        }
    }

    /// Renders a picture on another thread, and sends it if it differs from the one shown.
    private func render() {
        nextTime = .now() + Self.interval
        guard !isRendering, !service.devices.isEmpty, let snapshot = machine.snapshot else { return }
        isRendering = true
        renderedCount += 1
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        NIOThreadPool.singleton.submit { [eventLoop, shown, turn] _ in
            let picture = snapshot.picture()
            let file = picture == shown ? nil : Data(picture.png())
            eventLoop.execute { bound.value.take(picture, file, turn) }
        }
    }

    private func take(_ picture: Picture, _ file: Data?, _ turn: Int) {
        isRendering = false
        guard let file, turn == self.turn, !isStopped else { return }
        show(picture, file)
    }

    private func show(_ picture: Picture, _ file: Data) {
        shown = picture
        // A device that cannot receive the picture must not keep it from the others, so an error is ignored.
        _ = try? service.send(file, to: CommodoreElements.screen)
    }
}
