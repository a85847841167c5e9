import Elemental
import ElementalFollowing
import Support

/// Runs commands from standard input while values from a service are printed.
struct InteractiveSession: Sendable {
    let client: Client
    let timeout: Duration
    /// The elements whose values are printed.
    private let watched = Locked<Set<Int8>>([])
    private var console: Console { client.console }

    /// Runs until the input, the session or the connection ends.
    func run() async throws {
        defer { console.streams.endPrompt() }
        let hasEnded = try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                await printValues()
                return true
            }
            group.addTask {
                try await takeLines()
                return false
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
        console.streams.endPrompt()
        if hasEnded, !Task.isCancelled { try await client.reportEnd() }
    }

    private func printValues() async {
        guard let values = client.values else { return }
        for await arrived in values {
            let event = ValueEvent(arrived: arrived, key: client.device.key)
            let isWatched = watched.withLock { ids in
                guard ids.contains(arrived.element.id) else { return false }
                console.put(event)
                return true
            }
            if isWatched { await console.waitForRoom(after: event) }
        }
    }

    private func takeLines() async throws {
        let input = InputLines()
        let isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
        while true {
            if isTerminal, !console.isJSON {
                console.streams.show(prompt: "\(client.device.name)> ")
                await console.streams.waitForRoom(in: .output)
            }
            guard let line = await input.next() else { break }
            console.streams.hidePrompt()
            do {
                guard let line = try SessionLine(parsing: line.get()) else { continue }
                if line == .quit { break }
                try await perform(line)
            } catch {
                try Task.checkCancellation()
                if let reason = client.device.disconnectReason { throw Client.ended(client.device, reason) }
                await console.emit(CommandFailure(error))
            }
        }
        try checkUnsent()
    }

    /// Throws if values for a service that is away are lost with the end of the session.
    private func checkUnsent() throws {
        guard client.device.isReconnecting, client.device.keptValueCount > 0 else { return }
        let name = client.device.name
        throw CommandFailure("notSent", "'\(name)' has not come back: the values that were kept for it are lost")
    }

    private func perform(_ line: SessionLine) async throws {
        let device = client.device
        switch line {
        case .list: await console.emit(client.description)
        case .get(let names):
            for element in try elements(names) {
                if let newest = client.arrivalTimes.newest(element, of: device) {
                    await console.emit(ValueEvent(arrived: newest, key: device.key))
                } else if !names.isEmpty {
                    await console.talk("\(element.name) has no value yet")
                }
            }
        case .set(let text):
            let assignment = try await Assignment(
                parsing: text, among: client.elements, of: device.name, readingFilesFor: timeout)
            try await client.send([assignment], timeout: timeout)
            if device.isReconnecting { await console.talk("kept until \(device.name) is back") }
        case .watch(let names):
            let wanted = try elements(names)
            // Under the lock, so that a value arriving meanwhile is either the one printed here or printed after it.
            let printed = watched.withLock { ids in
                ids.formUnion(wanted.map(\.id))
                return wanted.compactMap { element in
                    client.arrivalTimes.newest(element, of: device).map { newest in
                        let event = ValueEvent(arrived: newest, key: device.key)
                        console.put(event)
                        return event
                    }
                }
            }
            if let last = printed.last { await console.waitForRoom(after: last) }
        case .unwatch(let names):
            let unwanted = try elements(names)
            watched.withLock { $0.subtract(unwanted.map(\.id)) }
        case .stats: await console.emit(.statistics(device.key, device.statistics))
        case .ping: await console.emit(.ping(device.key, try await device.ping(timeout: timeout)))
        case .help: for line in SessionLine.helpText.split(separator: "\n") { await console.talk(String(line)) }
        case .quit: break
        }
    }

    /// The elements with those names; every element if no name is given.
    private func elements(_ names: [String]) throws -> [ElementDefinition] {
        guard !names.isEmpty else { return client.elements.elements }
        let whole = names.joined(separator: " ")
        if names.count > 1, let element = client.elements[whole] { return [element] }
        return try client.elements.elements(named: names, of: client.device.name)
    }
}

extension ConsoleEvent where Self == Notice {
    static func statistics(_ key: ServiceKey, _ statistics: DeviceStatistics) -> Notice {
        var rows = [
            ("sent", "\(statistics.messagesSent) messages, \(statistics.bytesSent) bytes"),
            ("received", "\(statistics.messagesReceived) messages, \(statistics.bytesReceived) bytes"),
            ("unsent", "\(statistics.messagesUnsent)"),
        ]
        if let time = statistics.roundTripTime {
            rows.append(("ping", "\(time.microsecondsText) µs, the newest round trip"))
        }
        let problems = [
            ("dropped", statistics.datagramsDropped, "datagrams that the system did not accept"),
            ("replaced", statistics.messagesReplaced, "unsent values that newer ones replaced"),
            ("malformed", statistics.messagesMalformed, "frames with a malformed value"),
            ("unknown", statistics.messagesUnknown, "frames of unknown elements"),
            ("rejected", statistics.messagesRejected, "values out of range or not allowed"),
            ("outdated", statistics.messagesOutdated, "values that came after newer ones"),
            ("overrun", statistics.messagesOverrun, "values that came faster than they were read"),
            ("forged", statistics.datagramsForged, "datagrams that the peer did not send, or that came again"),
            ("datagramErrors", statistics.datagramErrors, "reports that a datagram did not arrive"),
        ]
        for (name, count, meaning) in problems where count > 0 {
            rows.append((name == "datagramErrors" ? "errors" : name, "\(count) \(meaning)"))
        }
        let counts = [
            ("messagesSent", statistics.messagesSent), ("bytesSent", statistics.bytesSent),
            ("messagesReceived", statistics.messagesReceived), ("bytesReceived", statistics.bytesReceived),
            ("unsent", statistics.messagesUnsent),
        ]
        let time = statistics.roundTripTime.map { JSONText.seconds($0) } ?? .null
        return Notice(
            "statistics",
            JSONText.members(key) + (counts + problems.map { ($0.0, $0.1) }).map { ($0.0, .integer($0.1)) }
                + [("roundTripTime", time)],
            isResult: true, rows.map { "\($0.0.padded(to: 10))\($0.1)" })
    }

    static func ping(_ key: ServiceKey, _ time: Duration) -> Notice {
        Notice(
            "ping", JSONText.members(key) + [("microseconds", .number(time.microsecondsText))], isResult: true,
            "\(key.name) answered in \(time.microsecondsText) µs")
    }
}

extension Duration {
    fileprivate var microsecondsText: String {
        let tenths = nanoseconds / 100
        return "\(tenths / 10).\(tenths % 10)"
    }
}
