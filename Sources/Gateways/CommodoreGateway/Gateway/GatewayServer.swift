import Elemental
import NIOCore
import SerialLines

/// A gateway on its event loop: connects line, modem and service, and runs their timers.
final class GatewayServer {
    private let eventLoop: any EventLoop
    private let service: ElementalService
    private let line: any Line
    /// The screen, keyboard and joysticks of a virtual machine.
    private let panel: VirtualPanel?
    private let standardElements: [ElementDefinition]
    private let tell: @Sendable (GatewayEvent) -> Void
    private var modem: Modem?
    private var timer: Scheduled<Void>?
    private var timerTime: NIODeadline?
    private var statisticsTimer: Scheduled<Void>?
    /// What clients have queued for the machine; some clients are paused.
    private var shares = ClientShares<ElementalDevice>()
    private var isStopped = false

    private static let statisticsInterval = TimeAmount.seconds(1)

    init(
        line: any Line, panel: VirtualPanel? = nil, service: ElementalService, eventLoop: any EventLoop,
        settings: Modem.Settings, addresses: Addresses, tell: @escaping @Sendable (GatewayEvent) -> Void
    ) {
        self.line = line
        self.panel = panel
        standardElements = addresses.standardElements
        self.service = service
        self.eventLoop = eventLoop
        self.tell = tell
        modem = Modem(settings: settings, addresses: addresses, owner: self)
    }

    func start() {
        modem(publishes: .bool(false), of: CommodoreElements.present.definition)
        modem(publishes: .string(""), of: CommodoreElements.program.definition)
        publishStatistics()
        panel?.start()
        line.start(self)
    }

    private func publishStatistics() {
        if let modem {
            modem.publishStatistics()
            shares.settle(gone: modem.queuedByteCount - modem.waitingByteCount)
        }
        statisticsTimer = eventLoop.assumeIsolated().scheduleTask(in: Self.statisticsInterval) { [weak self] in
            self?.publishStatistics()
        }
    }

    func stop() {
        isStopped = true
        panel?.stop()
        line.stop()
        statisticsTimer?.cancel()
        timer?.cancel()
        modem?.lineLost()
        for device in shares.removeAll() { device.resume() }
    }

    /// A client sent a value.
    func take(_ value: ElementValue, of element: ElementDefinition, from device: ElementalDevice) {
        guard let modem, !isStopped else { return }
        if let panel, panel.has(element) {
            do throws(ValueRefusal) {
                try panel.take(value, of: element, from: device)
            } catch {
                tell(.refused(element, device: device, reason: error.description))
                service.refuse(element, from: device, error)
            }
            return
        }
        let queued = modem.queuedByteCount
        let reason = modem.take(value, of: element, from: device.name, at: .now())
        if let reason {
            tell(.refused(element, device: device, reason: reason))
            service.refuse(element, from: device, ValueRefusal(reason))
        }
        // A device that cannot receive it must not keep it from the others.
        if reason == nil, element.access.contains(.read) { _ = try? service.send(value, to: element) }
        if !element.latest {
            let byteCount = modem.queuedByteCount - queued
            let isToWait = shares.note(
                device, byteCount, queued: modem.queuedByteCount, waiting: modem.waitingByteCount)
            if isToWait { device.pause() }
        }
        pump()
    }

    /// A client is about to connect, and may be refused yet.
    func clientIsConnecting() { panel?.screen.refresh() }

    /// A client has connected.
    func clientConnected() { panel?.screen.clientsChanged() }

    /// A client has disconnected.
    func clientDisconnected(_ device: ElementalDevice) {
        panel?.release(device)
        panel?.screen.clientsChanged()
    }

    /// How many pictures were rendered so far.
    var renderedPictureCount: Int { panel?.screen.renderedCount ?? 0 }

    /// Writes what may be sent now, and schedules the rest.
    private func pump() {
        guard let modem, !isStopped else { return }
        let now = NIODeadline.now()
        modem.wake(at: now)
        if line.isWritable {
            let bytes = modem.output(at: now)
            if !bytes.isEmpty { line.write(bytes) }
        }
        let waiting = modem.waitingByteCount
        for device in shares.takeResumed(gone: modem.queuedByteCount - waiting, waiting: waiting) { device.resume() }
        schedule(line.isWritable ? modem.wakeTime : modem.silenceTime)
    }

    private func schedule(_ time: NIODeadline?) {
        guard time != timerTime else { return }
        timer?.cancel()
        timerTime = time
        timer = time.map { time in
            eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self] in
                self?.timerTime = nil
                self?.pump()
            }
        }
    }
}

extension GatewayServer: LineHandler {
    func lineChanged(_ event: LineEvent) {
        tell(.line(event))
        switch event {
        case .opened: modem?.lineOpened()
        case .lost: modem?.lineLost()
        case .ready, .refused, .notListening: return
        }
        pump()
    }

    func lineReceived(_ bytes: ByteBufferView) {
        modem?.receive(bytes, at: .now())
        pump()
    }

    func lineTerminalReady(_ isReady: Bool) {
        if !isReady { modem?.terminalIsNotReady() }
        pump()
    }

    func lineIsWritable() { pump() }
}

extension GatewayServer: ModemOwner {
    func modem(publishes value: ElementValue, of element: ElementDefinition) {
        if let panel, let port = panel.port(of: element) {
            panel.programReports(value, port) { [tell] in tell(.told(element, value)) }
            return
        }
        // The machine's values are validated already, but the catalogue may have changed since.
        _ = try? service.send(value, to: element)
        if !CommodoreElements.isAboutLine(element.id) { tell(.told(element, value)) }
    }

    func modem(replacesElements elements: [ElementDefinition]) {
        let isStandard = elements == standardElements
        service.update(
            elements: panel.map { $0.catalogue(of: elements, isStandard: isStandard) }
                ?? CommodoreElements.catalogue(of: elements),
            reason: "the Commodore now runs a program with other elements; reconnect to get them")
        panel?.elementsChanged(isStandard: isStandard)
    }

    func modemConnected(_ program: String) {
        line.setCarrier(true)
        tell(.programConnected(program))
    }

    func modemDisconnected(_ program: String) {
        line.setCarrier(false)
        tell(.programDisconnected(program))
    }

    // The caller that gave the modem something to send flushes it.
    func modemHasOutput() {
        let now = NIODeadline.now()
        if !isStopped, timerTime.map({ $0 > now }) ?? true { schedule(now) }
    }
}
