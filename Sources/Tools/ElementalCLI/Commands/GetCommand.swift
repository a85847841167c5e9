import ArgumentParser
import Elemental
import ElementalFollowing
import Support

struct GetCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the current values of a service's elements.",
        discussion: """
            Prints NAME=VALUE for each; without names, for all elements that have a value. If the service has not set a named \
            element yet, the command waits for it, at most --timeout.

              $ elemental get robot
              $ elemental get robot Speed Battery
              $ elemental get robot Speed --json | jq .value
              $ elemental get camera Picture --raw > picture.png
              $ elemental get 192.168.1.7:5000 Light --element 1:Light:bool
            """)

    @OptionGroup var client: ClientOptions

    @Argument(help: ArgumentHelp("The elements' names (default: all that can be read).", valueName: "name"))
    var names: [String] = []

    @Flag(help: "Write the bytes of one string or data unchanged, without its name.")
    var raw = false

    @OptionGroup var element: ElementOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard raw else { return }
        if names.count != 1 { throw ValidationError("--raw takes one element") }
        if output.json { throw ValidationError("give --raw or --json, not both") }
    }

    func perform(_ console: Console) async throws {
        let catalogue = try element.catalogue
        try await Interruption.run(console, .task) { [client, names, raw, output] in
            let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            try await client.withClient(output, console, elements: catalogue) {
                $0.onValue = { arrival.yield() }
            } run: { client in
                client.device.onDisconnect { _, _ in arrival.finish() }
                try await client.printValues(names, arrivals, timeout: output.limit, raw: raw)
            }
        }
    }
}

extension Client {
    /// Prints the elements' newest values, waiting for those that have not arrived. Without names, it prints those that
    /// the service has set; an older service does not report that it has sent them all.
    func printValues(_ names: [String], _ arrivals: AsyncStream<Void>, timeout: Duration, raw: Bool) async throws {
        let wanted = try readable(names)
        for element in wanted where raw && element.type != .string && element.type != .data {
            throw CommandFailure(
                "usage", "element '\(element.name)' is a \(element.type.name); --raw is for string and data")
        }
        let missing = { @Sendable in wanted.filter { device.value(of: $0) == nil } }
        if names.isEmpty { await device.waitForHello(timeout) }
        let isAnySetEnough = names.isEmpty && device.hello != nil
        let wait = try await transfers.limit(to: timeout, for: missing().map(\.id), .incoming) {
            if isAnySetEnough { return try await receiveSetValues(arrivals, timeout) }
            for await _ in arrivals where missing().isEmpty { return }
        }
        for element in wanted {
            guard let newest = arrivalTimes.newest(element, of: device) else { continue }
            switch newest.value {
            case .data(let data) where raw: await console.emit(bytes: data)
            case .string(let text) where raw: await console.emit(bytes: Array(text.utf8))
            default: await console.emit(ValueEvent(arrived: newest, key: device.key))
            }
        }
        let absent = missing()
        guard !absent.isEmpty else { return }
        if let reason = device.disconnectReason { throw Self.ended(device, reason) }
        if let (element, amount) = absent.lazy.compactMap({ element in
            wait?.amount(of: element.id).map { (element, $0) }
        }).first {
            throw CommandFailure(
                "timedOut",
                "'\(element.name)' arrives too slowly: \(amount) arrived; give a longer --timeout"
            )
        }
        let unset = "\(device.name) has not set \(quotedList(absent.map(\.name), "and"))"
        if isAnySetEnough, wait == nil { return await console.talk(unset) }
        throw CommandFailure(
            "timedOut",
            unset
                + (device.hello == nil
                    ? " within \(timeout); an older service sends a value only when it changes"
                    : " (waited \(timeout))"))
    }

    /// Waits until the values that the service sends to a new client have arrived.
    private func receiveSetValues(_ arrivals: AsyncStream<Void>, _ timeout: Duration) async throws {
        var arrivals = arrivals.makeAsyncIterator()
        repeat {
            // Parts of large values alternate with answers, so at least one part arrives before the second answer.
            for _ in 1...2 { try await device.waitUntilHandled(timeout: timeout) }
            guard transfers.isAnyUnderWay else { return }
        } while await arrivals.next() != nil
    }
}
