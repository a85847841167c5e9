import ArgumentParser
import Elemental
import ElementalFollowing
import Support

struct BrowseCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Show services as they come and go.",
        discussion: """
            Prints a line for each: + found, ~ changed, - gone, with SERVICE/NAME, host and port, addresses, whether \
            this user is paired with it or needs to be, and TXT record. Without SERVICE it shows all element services, except those of an \
            older ElementalController, which are found by their SERVICE only. It ends on Ctrl-C or after --for; \
            --timeout does not limit it. With --once it prints the services as a table, after about a second.

              $ elemental browse
              $ elemental browse --once
              $ elemental browse robot --for 2
              $ elemental browse --json --for 2 | jq -r 'select(.event == "found") | .name'
            """)

    @Argument(help: "The name of the services to look for, such as robot.")
    var service: String?

    @Option(name: .customLong("for"), help: ArgumentHelp("End after that time.", valueName: "seconds"))
    var time: Seconds?

    @Flag(help: "Print the services once, and end: after the first answers, or after --timeout.")
    var once = false

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if once, time != nil { throw ValidationError("give --once or --for, not both") }
        if let service { try checked { try ElementalService.check(service: service) } }
    }

    func perform(_ console: Console) async throws {
        let browser = ElementalBrowser(service, logger: output.logger)
        if once { return try await list(browser.survey(), console) }
        let events = try browser.events()
        let time = time?.duration
        try await Interruption.run(console) { [state] in
            var trusted = UserTrust(state)
            try await trusted.update()
            let health = Locked((hasWorked: false, failure: ElementalError?.none, end: ContinuousClock.now))
            try await Interruption.limit(to: time) { [trusted] in
                var trusted = trusted
                for await event in events {
                    health.withLock { health in
                        if case .failed(let error, let delay) = event {
                            (health.failure, health.end) = (error, .now + delay + Self.attemptTime)
                        } else {
                            health.hasWorked = true
                        }
                    }
                    try await trusted.update()
                    await console.emit(.browsing(event, trusted))
                }
            }
            // The failure is ignored if a later attempt did not fail.
            let (hasWorked, failure, end) = health.withLock { $0 }
            if let failure, !hasWorked, .now < end, !Task.isCancelled { throw failure }
        }
    }

    private func list(_ events: AsyncStream<ElementalBrowser.Event>, _ console: Console) async throws {
        try await Interruption.run(console, .task) { [state, output] in
            let services = Locked<[ServiceKey: DiscoveredService]>([:])
            var trusted = UserTrust(state)
            try await trusted.update()
            let isComplete = try await Interruption.limit(to: output.limit) { [trusted] in
                for await event in events {
                    switch event {
                    case .found(let service), .updated(let service):
                        services.withLock { $0[ServiceKey(service)] = service }
                    case .gone(let service, let name):
                        services.withLock { $0[ServiceKey(service: service, name: name)] = nil }
                    case .unresolved: await console.emit(.browsing(event, trusted))
                    case .failed(let error, _): throw error
                    }
                }
                return true
            }
            try Task.checkCancellation()
            let found = services.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
            let table = Table(
                titles: ["SERVICE", "HOST", "ADDRESSES", "SECURITY", "TXT"],
                rows: found.map { $0.cells(trusted.standing(to: $0)) })
            await console.emit(found.map { Notice.browsing(.found($0), trusted) }, as: table)
            if found.isEmpty { await console.talk("no service was found") }
            if isComplete == nil {
                await console.talk("some did not answer within \(output.limit); give a longer --timeout")
            }
        }
    }

    /// Longer than a failing attempt takes.
    private static let attemptTime: Duration = .seconds(1)
}

extension ConsoleEvent where Self == Notice {
    static func browsing(_ event: ElementalBrowser.Event, _ trusted: UserTrust) -> Notice {
        func found(_ name: String, _ mark: Styled, _ service: DiscoveredService) -> Notice {
            let standing = trusted.standing(to: service)
            return Notice(name, service.members(standing), isResult: true, styled: [[mark] + service.line(standing)])
        }
        switch event {
        case .found(let service): return found("found", Styled("+ ", .good), service)
        case .updated(let service): return found("updated", Styled("~ ", .warning), service)
        case .gone(let service, let name):
            return Notice(
                "gone", JSONText.members(service, name), isResult: true,
                styled: [[Styled("- ", .bad), Styled("\(service)/\(name)", .heading)]])
        case .unresolved(let service, let name, let error):
            return Notice(
                "unresolved", JSONText.members(service, name) + JSONText.members(error),
                "\(service)/\(name) is listed but does not answer: \(error.message)")
        case .failed(let error, let delay):
            return .browsingFailed(error, delay)
        }
    }
}

extension DiscoveredService {
    /// `SERVICE/NAME  HOST:PORT  ADDRESSES  [SECURITY]  KEY=VALUE…`. The columns have fixed widths, because the lines
    /// that follow are not known yet.
    fileprivate func line(_ standing: ServiceStanding) -> [Styled] {
        let cells = cells(standing)
        return Table.line(cells[..<3] + cells[3...].filter { !$0.text.isEmpty }, [28, 22, 15])
    }

    func cells(_ standing: ServiceStanding) -> [Styled] {
        let style: Styled.Style =
            switch standing {
            case .none: .warning
            case .own, .paired: .good
            case .keyChanged, .keyMissing: .bad
            }
        return [
            Styled("\(service)/\(name)", .heading), Styled("\(hostName):\(port)"),
            Styled(addresses.joined(separator: " ")), Styled(remark(standing).map { "[\($0)]" } ?? "", style),
            Styled(sortedTXT.map { "\($0.key)=\($0.value)" }.joined(separator: "  "), .faint),
        ]
    }

    fileprivate func members(_ standing: ServiceStanding) -> JSONText.Members {
        JSONText.members(service, name) + [
            ("host", .string(hostName)), ("port", .integer(port)), ("addresses", .array(addresses.map { .string($0) })),
            ("txt", .object(sortedTXT.map { ($0.key, .string($0.value)) })),
        ] + securityMembers
            + [("trust", .string(standing.code)), ("role", .optional(standing.role?.rawValue))]
    }

    private var sortedTXT: [(key: String, value: String)] { txt.sorted { $0.key < $1.key } }
}
