import ArgumentParser
import Elemental
import Synchronization

/// Prints values as they come.
struct WatchCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print a service's values as they come, the current ones first.",
        discussion: """
            Without names it prints all elements. It ends on Ctrl-C, after --count values, after --for, and with the \
            service; the status is 1 if the connection broke or fewer than --count values came. With --reconnect it \
            outlasts the connection: it connects again and goes on, the service's current values first.

              $ elemental watch robot
              $ elemental watch robot Speed Battery --count 10
              $ elemental watch robot Speed --for 60 --json | jq -r .value
              $ elemental watch robot --reconnect >> robot.log
            """)

    @OptionGroup var client: ClientOptions

    @Argument(help: ArgumentHelp("The elements' names (default: all).", valueName: "name"))
    var names: [String] = []

    @Option(help: "How many values to print.")
    var count: Int?

    @Option(name: .customLong("for"), help: ArgumentHelp("How long to watch.", valueName: "seconds"))
    var time: Seconds?

    @OptionGroup var reconnection: ReconnectOptions
    @OptionGroup var element: ElementOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count takes a number above 0, not \(count)") }
    }

    func perform(_ console: Console) async throws {
        let catalogue = try element.catalogue
        let count = count
        let time = time?.duration
        try await Interruption.run(console, count == nil ? .endless : .counted) {
            [client, reconnection, output, names] in
            try await Client.with(
                client.target, as: client.clientName, output, console, elements: catalogue,
                limits: client.limits.device, wantsValues: true,
                reconnection: reconnection.policy
            ) { client in
                await console.emit(.joined(device: client.device.name, address: client.device.addressText))
                let wanted = try client.readable(names)
                let remaining = Counter(count ?? .max)
                try await client.tellingReconnections(console) {
                    try await Interruption.limit(to: time) {
                        try await client.watch(wanted, remaining, console)
                    }
                }
                if count != nil, remaining.value > 0 {
                    try Task.checkCancellation()
                    throw CommandFailure("timedOut", "\(remaining.value) of \(count ?? 0) values did not come")
                }
            }
        }
    }
}

/// How many values are still to come.
final class Counter: Sendable {
    private let count: Atomic<Int>

    init(_ count: Int) { self.count = Atomic(count) }

    var value: Int { count.load(ordering: .relaxed) }

    /// One less; returns what is left.
    func decrement() -> Int { count.subtract(1, ordering: .relaxed).newValue }
}

extension Client {
    /// The identifiers of the elements with those names, all where there are none.
    func readable(_ names: [String]) throws -> Set<Int8> {
        let wanted = names.isEmpty ? elements.elements : try elements.elements(named: names, of: device.name)
        for element in wanted where !names.isEmpty && !element.access.contains(.read) {
            throw CommandFailure(
                "notAllowed", "element '\(element.name)' is write-only: \(device.name) takes it and tells no value")
        }
        return Set(wanted.map(\.id))
    }

    /// Prints values until the count is at 0 or the task is cancelled.
    ///
    /// It ends with the service too.
    /// - Throws: ``CommandFailure`` if the connection ends and nobody asked for it.
    func watch(_ wanted: Set<Int8>, _ remaining: Counter, _ console: Console) async throws {
        guard let values else { return }
        for await arrived in values where wanted.contains(arrived.element.id) {
            await console.emit(.value(arrived, device: device.name))
            if remaining.decrement() == 0 { return }
        }
        if Task.isCancelled { return }
        let reason = await device.waitUntilDisconnected()
        await console.emit(.disconnected(device: device.name, reason))
        if !reason.isExpected { throw Self.ended(device, reason) }
    }
}
