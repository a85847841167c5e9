import Elemental
import NIOCore

/// The emulated modem of one line, as a state machine: it takes bytes, commands and values with their times, and
/// returns bytes and events. It has no sockets and no timers. Used on the gateway's event loop only.
final class Modem {
    private var parser = CommandParser()
    var queue = OutputQueue()
    private var pace: Pace
    let configuration: GatewayConfiguration
    let eventLoop: any EventLoop
    private unowned let owner: any ModemOwner
    /// The elements of a program that declares none.
    let standardElements: [ElementDefinition]
    let ownElements: [any AnyElement]
    /// The silence after which an incomplete command is dropped. A program's commands leave the KERNAL's buffer without a
    /// pause; at 50 baud a byte takes 200 ms. The chat program is silent for 520 ms after its first command, whose loss it
    /// survives, and by then a new command is expected.
    private let silence: TimeAmount
    private var ssid: [UInt8]?
    private(set) var session: (any ProgramSession)?
    private var address: [UInt8] = []
    private var isConnected = false
    private var isLineOpen = false
    /// When the last byte of an incomplete command arrived.
    private var lastByteTime: NIODeadline?
    /// The newest value of each `latest` element from clients, for a program that connects later.
    private(set) var state: [Int8: ElementValue] = [:]
    private var commandCount: UInt32 = 0
    private var sender: ElementalDevice?
    private var publishedStatistics: [UInt32] = []
    /// The elements of the machine. Setting it replaces the service's catalogue.
    var machineElements: [ElementDefinition] {
        didSet {
            guard machineElements != oldValue else { return }
            state = state.filter { id, _ in
                let element = machineElements.first { $0.id == id }
                return element != nil && element == oldValue.first { $0.id == id }
            }
            owner.modem(replacesElements: machineElements)
        }
    }

    init(
        _ configuration: GatewayConfiguration, isVirtual: Bool = false, eventLoop: any EventLoop, owner: any ModemOwner
    ) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.owner = owner
        standardElements = CommodoreElements.machine(allowsMemory: configuration.allowsMemory).map(\.definition)
        machineElements = standardElements
        ownElements = CommodoreElements.own + (isVirtual ? CommodoreElements.ofVirtualMachine : [])
        // A virtual machine's line has no noise, but it pauses while the computer is busy. A line with flow control
        // pauses while the machine is busy.
        silence = isVirtual || configuration.usesFlowControl ? .seconds(3) : .milliseconds(300)
        pace = Self.pace(configuration, readsFast: false)
    }

    private static func pace(_ configuration: GatewayConfiguration, readsFast: Bool) -> Pace {
        // A byte takes 10 bits.
        let (lineRate, slowRate) = (Double(configuration.baud) / 10, configuration.bytesPerSecond)
        if configuration.usesFlowControl { return Pace(lineRate: lineRate, readRate: nil) }
        return readsFast
            ? Pace(lineRate: lineRate, readRate: configuration.fastBytesPerSecond)
            : Pace(lineRate: min(lineRate, slowRate), readRate: slowRate)
    }

    // MARK: The line

    func lineOpened() {
        isLineOpen = true
        parser.reset()
        owner.modem(publishes: .bool(true), of: CommodoreElements.present.definition)
    }

    /// Ends the program's connection, because the line was lost.
    func lineLost() {
        isLineOpen = false
        lastByteTime = nil
        terminalIsNotReady()
        owner.modem(publishes: .bool(false), of: CommodoreElements.present.definition)
    }

    func receive(_ bytes: some Sequence<UInt8>, at now: NIODeadline) {
        wake(at: now)
        for byte in bytes {
            if let command = parser.receive(byte) { execute(command, now) }
        }
        lastByteTime = parser.isWaiting ? now : nil
    }

    /// Handles a low DTR of the machine: its program closed the line.
    func terminalIsNotReady() {
        parser.reset()
        hangUp()
        queue.removeAll()
    }

    private func execute(_ command: ModemCommand, _ now: NIODeadline) {
        commandCount &+= 1
        switch command {
        case .setSSID(let bytes):
            ssid = bytes
            answer(.ok)
        case .setPassword: answer(.ok)
        case .startWiFi:
            // There is only the gateway's own network. A program that names no network gets the firmware's answer.
            answer(ssid?.isEmpty == true ? .emptySSID : .ok)
        case .stopWiFi:
            // A program starts with this command: nothing meant for an earlier program may reach it, and the answer has to
            // arrive while it still discards its input.
            hangUp()
            queue.removeAll()
            pace = Self.pace(configuration, readsFast: false)
            answer(.ok)
        case .startWebSocket(let bytes): connect(bytes, now)
        case .send(let message):
            guard let session, isConnected else { return answer(.sendFailed) }
            answer(session.receive(message, at: now))
        }
    }

    private func connect(_ bytes: [UInt8], _ now: NIODeadline) {
        guard let target = ProgramAddress(bytes) else { return answer(.malformedURL) }
        if session != nil {
            if bytes == address {
                if isConnected { answer(.ok) }
                return
            }
            hangUp()
        }
        address = bytes
        let session = makeSession(for: target)
        self.session = session
        pace = Self.pace(configuration, readsFast: session.readsFast)
        session.open(at: now)
    }

    private func makeSession(for address: ProgramAddress) -> any ProgramSession {
        switch address {
        case .elemental(let name): NativeSession(name: name, modem: self)
        case .webSocket(let text):
            if let url = configuration.hubs[text] {
                HubRelaySession(url: url, modem: self)
            } else {
                // The chat program has a fixed address of a hub. The gateway ignores the address and is the hub itself.
                ChatSession(modem: self)
            }
        }
    }

    private func answer(_ result: ModemResult) {
        guard isLineOpen else { return }
        queue.append(answer: result.bytes)
        owner.modemHasOutput()
    }

    /// Ends the program's connection without notifying the program.
    private func hangUp() {
        guard let session else { return }
        self.session = nil
        session.end()
        queue.removeData()
        guard isConnected else { return }
        isConnected = false
        owner.modem(publishes: .string(""), of: CommodoreElements.program.definition)
        owner.modemChanged(session.name, isConnected: false)
    }

    // MARK: Time

    func wake(at now: NIODeadline) {
        if let time = lastByteTime, now >= time + silence {
            lastByteTime = nil
            if parser.silence() { answer(.invalidCommand) }
        }
        if let session, let time = session.wakeTime, now >= time { session.wake(at: now) }
    }

    /// When to call ``wake(at:)`` and ``output(at:)`` again; nil if not before the next event.
    var wakeTime: NIODeadline? {
        let output = queue.isEmpty ? nil : pace.nextTime
        return [silenceTime, output].compactMap { $0 }.min()
    }

    /// As ``wakeTime``, while the line is not writable.
    var silenceTime: NIODeadline? { [lastByteTime.map { $0 + silence }, session?.wakeTime].compactMap { $0 }.min() }

    func output(at now: NIODeadline) -> [UInt8] {
        guard isLineOpen, !queue.isEmpty else { return [] }
        let bytes = queue.take(pace.room(at: now), at: now)
        pace.note(bytes.count, at: now)
        return bytes
    }

    // MARK: Clients

    /// - Returns: the reason why the value is not sent to the machine, or nil.
    func take(
        _ value: ElementValue, of element: ElementDefinition, from client: String, device: ElementalDevice? = nil,
        at now: NIODeadline
    ) -> String? {
        sender = device
        defer { sender = nil }
        if element.latest { state[element.id] = value }
        let taken = isConnected ? session?.take(value, of: element, from: client, at: now) : nil
        switch taken {
        case .queued:
            owner.modemHasOutput()
            return nil
        case .refused(let reason):
            queue.counts.unsent &+= 1
            return reason
        case .unwanted, nil:
            // The next program gets the values of `latest` elements.
            if element.latest { return nil }
            queue.counts.unsent &+= 1
            return isConnected ? "the program does not accept it" : "no program is connected"
        }
    }

    func publishStatistics() {
        let delay = UInt32(clamping: queue.delay.nanoseconds / 1_000_000)
        let numbers: [(Element<UInt32>, UInt32)] = [
            (CommodoreElements.queued, UInt32(clamping: queue.items.byteCount)), (CommodoreElements.delay, delay),
            (CommodoreElements.recordsSent, queue.counts.records),
            (CommodoreElements.commandsReceived, commandCount),
            (CommodoreElements.replaced, queue.counts.replaced),
            (CommodoreElements.unsent, queue.counts.unsent),
            (CommodoreElements.skipped, UInt32(truncatingIfNeeded: parser.skippedByteCount)),
        ]
        for (index, (element, number)) in numbers.enumerated()
        where publishedStatistics.isEmpty || publishedStatistics[index] != number {
            owner.modem(publishes: .uint32(number), of: element.definition)
        }
        publishedStatistics = numbers.map(\.1)
    }
}

// MARK: - For sessions

extension Modem {
    func connected(_ session: any ProgramSession) {
        guard session === self.session, !isConnected else { return }
        isConnected = true
        answer(.connected)
        owner.modem(publishes: .string(session.name), of: CommodoreElements.program.definition)
        owner.modemChanged(session.name, isConnected: true)
    }

    func disconnected(_ session: any ProgramSession) {
        guard session === self.session else { return }
        hangUp()
        answer(.disconnected)
    }

    /// - Returns: whether there was room.
    func send(_ item: OutputQueue.Item, from session: any ProgramSession) -> Bool {
        var item = item
        item.client = sender
        guard session === self.session, queue.append(item) else { return false }
        owner.modemHasOutput()
        return true
    }

    func publish(_ value: ElementValue, of element: ElementDefinition) {
        if element.latest, element.access.contains(.write) { state[element.id] = value }
        owner.modem(publishes: value, of: element)
    }
}

protocol ModemOwner: AnyObject {
    func modem(publishes value: ElementValue, of element: ElementDefinition)
    func modem(replacesElements elements: [ElementDefinition])
    func modemChanged(_ program: String, isConnected: Bool)
    func modemHasOutput()
}
