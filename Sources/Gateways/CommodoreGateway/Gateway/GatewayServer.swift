import Elemental
import NIOCore
import SerialLines

/// A gateway on its event loop: connects line, modem and service, and runs their timers.
final class GatewayServer {
    private let eventLoop: any EventLoop
    private let service: ElementalService
    private let line: any Line
    let panel: VirtualPanel?
    private let tell: @Sendable (GatewayEvent) -> Void
    /// `nil` once it is stopped.
    private var modem: Modem?
    private var timer: Scheduled<Void>?
    private var timerTime: NIODeadline?
    private var statisticsTimer: Scheduled<Void>?

    private static let statisticsInterval = TimeAmount.seconds(1)

    init(
        line: any Line, machine: VirtualMachine?, service: ElementalService, configuration: GatewayConfiguration,
        eventLoop: any EventLoop, tell: @escaping @Sendable (GatewayEvent) -> Void
    ) {
        self.line = line
        self.service = service
        self.eventLoop = eventLoop
        self.tell = tell
        panel = machine.map { VirtualPanel($0, service: service, eventLoop: eventLoop) }
        modem = Modem(configuration, isVirtual: machine != nil, eventLoop: eventLoop, owner: self)
    }

    func start() {
        modem(publishes: .bool(false), of: CommodoreElements.present.definition)
        modem(publishes: .string(""), of: CommodoreElements.program.definition)
        publishStatistics()
        panel?.start()
        line.start(self)
    }

    private func publishStatistics() {
        modem?.publishStatistics()
        statisticsTimer = eventLoop.assumeIsolated().scheduleTask(in: Self.statisticsInterval) { [weak self] in
            self?.publishStatistics()
        }
    }

    func stop() {
        panel?.stop()
        line.stop()
        modem?.lineLost()
        resumeClients()
        modem = nil
        statisticsTimer?.cancel()
        timer?.cancel()
    }

    private func resumeClients() { for device in modem?.queue.items.takeResumed() ?? [] { device.resume() } }

    func take(_ value: ElementValue, of element: ElementDefinition, from device: ElementalDevice) {
        guard let modem else { return }
        if let panel, panel.has(element) {
            do throws(ValueRefusal) {
                try panel.take(value, of: element, from: device)
            } catch {
                tell(.refused(element, device: device, reason: error.description))
                service.refuse(element, from: device, error)
            }
            return
        }
        let before = modem.queue.items.byteCount(of: device)
        let reason = modem.take(value, of: element, from: device.name, device: device, at: .now())
        if let reason {
            tell(.refused(element, device: device, reason: reason))
            service.refuse(element, from: device, ValueRefusal(reason))
        }
        // A device that cannot receive the value must not keep it from the others, so an error is ignored.
        if reason == nil, element.access.contains(.read) { _ = try? service.send(value, to: element) }
        if modem.queue.items.pauses(device, before: before) { device.pause() }
        pump()
    }

    /// Writes what may be sent now, and schedules the rest.
    private func pump() {
        guard let modem else { return }
        let now = NIODeadline.now()
        modem.wake(at: now)
        if line.isWritable {
            let bytes = modem.output(at: now)
            if !bytes.isEmpty { line.write(bytes) }
        }
        resumeClients()
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
        let isStandard = elements == modem?.standardElements
        service.update(
            elements: panel.map { $0.catalogue(of: elements, isStandard: isStandard) }
                ?? CommodoreElements.catalogue(of: elements),
            reason: "the Commodore now runs a program with other elements; reconnect to get them")
        panel?.elementsChanged(isStandard: isStandard)
    }

    func modemChanged(_ program: String, isConnected: Bool) {
        line.setCarrier(isConnected)
        tell(isConnected ? .programConnected(program) : .programDisconnected(program))
    }

    // Sends at the end of this turn of the loop, unless the caller pumps before.
    func modemHasOutput() {
        let now = NIODeadline.now()
        if modem != nil, timerTime.map({ $0 > now }) ?? true { schedule(now) }
    }
}
