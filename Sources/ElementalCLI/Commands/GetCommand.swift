import ArgumentParser
import Elemental

/// Prints the current values of elements.
struct GetCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print the current values of a service's elements.",
        discussion: """
            Each is printed as NAME=VALUE. An element that the service has not set yet is waited for, at most --timeout.

              $ elemental get robot Speed Battery
              $ elemental get robot Speed --json | jq .value
              $ elemental get 192.168.1.7:5000 Light --element 1:Light:bool
            """)

    @OptionGroup var client: ClientOptions

    @Argument(help: ArgumentHelp("The elements' names.", valueName: "name"))
    var names: [String]

    @OptionGroup var element: ElementOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let client = try await Client.open(client.target, as: client.clientName, output, elements: element.catalogue) {
            arrival.yield()
        }
        client.device.onDisconnect { _, _ in arrival.finish() }
        do {
            try await client.printValues(names, arrivals, timeout: output.limit, console)
        } catch {
            await client.device.close()
            throw error
        }
        await client.device.close()
    }
}

extension Client {
    /// Prints the elements' newest values, waiting for those that have not come.
    func printValues(
        _ names: [String], _ arrivals: AsyncStream<Void>, timeout: Duration, _ console: Console
    ) async throws {
        let wanted = try elements.elements(named: names, of: device.name)
        for element in wanted where !element.access.contains(.read) {
            throw CommandFailure(
                "notAllowed", "element '\(element.name)' is write-only: \(device.name) takes it and tells no value")
        }
        let missing = { @Sendable in wanted.filter { device.value(of: $0) == nil } }
        await Interruption.limit(to: timeout) {
            for await _ in arrivals where missing().isEmpty { return }
        }
        for element in wanted {
            guard let value = device.value(of: element) else { continue }
            console.emit(.value(element, value, device: device.name))
        }
        let absent = missing()
        guard !absent.isEmpty else { return }
        if let reason = device.disconnectReason { throw Self.ended(device, reason) }
        throw CommandFailure(
            "timedOut",
            "\(device.name) has not set \(quotedList(absent.map(\.name), "and"))"
                + (device.hello == nil
                    ? " within \(timeout); an older service tells a value only when it changes"
                    : " (waited \(timeout))"))
    }
}
