import ArgumentParser
import Elemental
import ElementalFollowing
import Support

/// Shows services as they come and go.
struct BrowseCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Show services as they come and go.",
        discussion: """
            Prints a line for each: + found, ~ changed, - gone, with SERVICE/NAME, host and port, addresses, whether \
            this user is paired with it or needs to be, and TXT record. Without SERVICE it shows all element services, except those of an \
            older ElementalController, which are found by their SERVICE only. It ends on Ctrl-C or after --for; \
            --timeout does not limit it. With --once it prints what is there as a table, after about a second.

              $ elemental browse
              $ elemental browse --once
              $ elemental browse robot --for 2
              $ elemental browse --json --for 2 | jq -r 'select(.event == "found") | .name'
            """)

    @Argument(help: "The name of the services to look for, such as robot.")
    var service: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("End after that time.", valueName: "seconds"))
    var time: Seconds?

    @Flag(help: "Print the services that are there, and end: when the first answers are in, or after --timeout.")
    var once = false

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if once, time != nil { throw ValidationError("--once and --for exclude each other") }
        guard let service else { return }
        do {
            try ElementalService.check(service: service)
        } catch {
            throw ValidationError(error.message)
        }
    }

    func perform(_ console: Console) async throws {
        let browser = ElementalBrowser(service, logger: output.logger)
        if once { return try await list(browser.survey(), console) }
        let events = try browser.events()
        let time = time?.duration
        try await Interruption.run(console) { [state] in
            var trusted = UserTrust(state)
            try await trusted.update()
            let health = Locked(Health())
            try await Interruption.limit(to: time) { [trusted] in
                var trusted = trusted
                for await event in events {
                    health.withLock { $0.record(event) }
                    try await trusted.update()
                    await console.emit(BrowseEvent(event, trusted))
                }
            }
            if let failure = health.withLock({ $0.failure }), !Task.isCancelled { throw failure }
        }
    }

    /// Prints what is there.
    private func list(_ events: AsyncStream<ElementalBrowser.Event>, _ console: Console) async throws {
        try await Interruption.run(console, .task) { [state, output] in
            let (services, isComplete) = (Locked<[ServiceKey: DiscoveredService]>([:]), Locked(false))
            var trusted = UserTrust(state)
            try await trusted.update()
            try await Interruption.limit(to: output.limit) { [trusted] in
                for await event in events {
                    switch event {
                    case .found(let service), .updated(let service):
                        services.withLock { $0[ServiceKey(service)] = service }
                    case .gone(let service, let name):
                        services.withLock { $0[ServiceKey(service: service, name: name)] = nil }
                    case .unresolved: await console.emit(BrowseEvent(event, trusted))
                    case .failed(let error, _): throw error
                    }
                }
                isComplete.withLock { $0 = !Task.isCancelled }
            }
            try Task.checkCancellation()
            let found = services.withLock { $0.sorted { $0.key < $1.key } }
                .map { BrowseEvent(.found($0.value), trusted) }
            await console.emit(found, as: BrowseEvent.table(of: found))
            if found.isEmpty { await console.talk("no service was found") }
            if !isComplete.withLock({ $0 }) { await console.talk("not all have answered within \(output.limit)") }
        }
    }

    /// Whether browsing has worked at all.
    private struct Health {
        private var hasWorked = false
        private var last: (error: ElementalError, nextAttempt: ContinuousClock.Instant)?

        /// Longer than a failing attempt takes.
        private static let attemptTime: Duration = .seconds(1)

        mutating func record(_ event: ElementalBrowser.Event) {
            if case .failed(let error, let delay) = event {
                last = (error, .now + delay)
            } else {
                hasWorked = true
            }
        }

        /// Why browsing has not worked; `nil` if it has, or if an attempt followed that did not fail.
        var failure: ElementalError? {
            guard !hasWorked, let last, .now < last.nextAttempt + Self.attemptTime else { return nil }
            return last.error
        }
    }
}
