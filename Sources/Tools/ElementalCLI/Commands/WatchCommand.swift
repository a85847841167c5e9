import ArgumentParser
import Elemental

/// Prints values as they arrive.
struct WatchCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print a service's values as they arrive, the current ones first.",
        discussion: """
            Without names it prints all elements. It ends on Ctrl-C, after --count values, after --for, and when the \
            service ends; the status is 1 if the connection broke, 5 if fewer than --count values arrived. With --reconnect it \
            outlasts the connection: it connects again and continues, with the service's current values first.

              $ elemental watch robot
              $ elemental watch robot Speed Battery --count 10
              $ elemental watch robot Speed --for 60 --json | jq -r .value
              $ elemental watch robot --reconnect >> robot.log
            """)

    @OptionGroup var client: ClientOptions

    @Argument(help: ArgumentHelp("The elements' names (default: all).", valueName: "name"))
    var names: [String] = []

    @OptionGroup var amount: AmountOptions
    @OptionGroup var reconnection: ReconnectOptions
    @OptionGroup var element: ElementOptions
    @OptionGroup var output: OutputOptions

    func perform(_ console: Console) async throws {
        let catalogue = try element.catalogue
        try await Interruption.run(console, amount.work) { [client, amount, reconnection, output, names] in
            try await client.withClient(output, console, elements: catalogue) {
                $0.wantsValues = true
                $0.reconnection = reconnection.policy
            } run: { client in
                let remaining = amount.counter
                try await client.reportingConnection(console) {
                    // Without names also those that come with a pairing.
                    let wanted = names.isEmpty ? nil : Set(try client.readable(names).map(\.id))
                    try await Interruption.limit(to: amount.time?.duration) {
                        try await client.watch(wanted, remaining, console)
                    }
                }
                try amount.expectAll(remaining, of: "values")
            }
        }
    }
}

extension Client {
    /// Prints values, of all elements if `wanted` is `nil`, until the count is at 0, the service ends or the task is cancelled.
    ///
    /// - Throws: ``CommandFailure`` if the connection ends unexpectedly.
    func watch(_ wanted: Set<Int8>?, _ remaining: Countdown, _ console: Console) async throws {
        guard let values else { return }
        for await arrived in values where wanted?.contains(arrived.element.id) ?? true {
            await console.emit(ValueEvent(arrived: arrived, key: device.key))
            if remaining.decrement() == 0 { return }
        }
        if !Task.isCancelled { try await reportEnd(console) }
    }
}
