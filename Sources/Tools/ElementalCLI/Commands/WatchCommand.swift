import ArgumentParser
import Elemental
import ElementalFollowing
import Support

struct WatchCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the values of services as they arrive, the current ones first.",
        discussion: """
            Give names of elements after TARGET; without any it prints all. Each --also is a further TARGET: then the \
            names apply to all of them, and each line begins with its service. A TARGET that is away delays no other.

            It ends on Ctrl-C, after --count values, after --for, and when the services have ended; the status is 1 if a \
            connection broke, 5 if fewer than --count values arrived. With --reconnect it outlasts the connections: it \
            connects again and continues, with the service's current values first.

            With --since the values of that time come first, of elements whose service keeps them (publish: 'history 24h'): \
            each once and in order, also over a connection that was lost, with the time at which it was measured. What is \
            missing is reported. --resume NAME continues after the values that 'watch --resume NAME' printed, also after \
            a restart; the first time it begins with the oldest, or with those of --since.

              $ elemental watch robot
              $ elemental watch robot Speed Battery --count 10
              $ elemental watch robot --also lamp --only Speed
              $ elemental watch robot Speed --for 60 --json | jq -r .value
              $ elemental watch robot --reconnect >> robot.log
              $ elemental watch weather Temperature --since 2h
              $ elemental watch weather --resume laptop >> weather.log
            """)

    @OptionGroup var client: ClientOptions

    @Argument(help: ArgumentHelp("The elements' names, as --only (default: all).", valueName: "name"))
    var names: [String] = []

    @Option(help: ArgumentHelp("An element to print; may be given several times (default: all).", valueName: "name"))
    var only: [String] = []

    @Option(
        help: ArgumentHelp("Another TARGET to watch; may be given several times.", valueName: "target"),
        transform: Target.init(parsing:))
    var also: [Target] = []

    @Option(help: ArgumentHelp("Begin with the values of that time, such as 90s, 10m, 2h or 1d.", valueName: "time"))
    var since: TimeSpan?

    @Option(help: ArgumentHelp("Continue after the values that were printed under that name.", valueName: "name"))
    var resume: String?

    @OptionGroup var amount: AmountOptions
    @OptionGroup var reconnection: ReconnectOptions
    @OptionGroup var element: ElementOptions
    @OptionGroup var output: OutputOptions

    /// All are looked for at the same time, each with connections to the Zeroconf daemon.
    private static let maximumTargetCount = 16

    func validate() throws {
        if also.count >= Self.maximumTargetCount {
            throw ValidationError("at most \(Self.maximumTargetCount) TARGETs can be watched")
        }
        if !also.isEmpty, !element.specs.isEmpty {
            throw ValidationError("--element describes one TARGET; leave out --also")
        }
        if let resume { try KeptPositions.check(resume) }
    }

    func perform(_ console: Console) async throws {
        try await Interruption.run(console, amount.work) { [self] in
            let remaining = amount.counter
            let past = try await past
            try await withCleanup {
                if also.isEmpty {
                    try await watch(client, past, remaining, console)
                } else {
                    try await watchAll(past, remaining, console)
                }
            } cleanup: {
                await past?.positions?.finish(console)
            }
            try amount.expectAll(remaining, of: "values")
        }
    }

    /// Where to begin in histories; `nil` if the user does not request past values.
    private var past: WatchedPast? {
        get async throws {
            let now = MeasurementTime.now.microseconds
            let begin: HistoryBeginning? = since.map {
                .time(MeasurementTime(microseconds: now - $0.duration.nanoseconds / 1000))
            }
            guard let resume else { return begin.map { WatchedPast(begin: $0, positions: nil) } }
            return WatchedPast(
                begin: begin ?? .oldest, positions: try await KeptPositions(resume, client.security.state))
        }
    }

    /// Watches all targets at the same time, and reports each that fails.
    private func watchAll(_ past: WatchedPast?, _ remaining: Countdown, _ console: Console) async throws {
        let failures = await withTaskGroup(of: (target: Target, failure: CommandFailure)?.self) { group in
            for target in [client.target] + also {
                var client = client
                client.target = target
                group.addTask { [client] in
                    do {
                        try await watch(client, past, remaining, console)
                        return nil
                    } catch {
                        return (target, CommandFailure(error))
                    }
                }
            }
            var failures: [(target: Target, failure: CommandFailure)] = []
            for await result in group {
                if remaining.value <= 0 { group.cancelAll() }
                guard let (target, failure) = result, !failure.isCancellation else { continue }
                failures.append((target, failure))
                let message = "\(target.text): \(failure.description)"
                await console.emit(.warning(CommandFailure(failure.code, message)))
            }
            return failures
        }
        guard let code = CommandStatus.decisive(failures.map(\.failure.code)) else { return }
        let targets = quotedList(failures.map(\.target.text), "and")
        throw CommandFailure(code, "\(targets) could not be watched to the end")
    }

    private func watch(
        _ client: ClientOptions, _ past: WatchedPast?, _ remaining: Countdown, _ console: Console
    ) async throws {
        let catalogue = try element.catalogue
        try await client.withClient(output, console, elements: catalogue, isNamed: !also.isEmpty, takesFirst: true) {
            $0.wantsValues = true
            $0.reconnection = reconnection.policy
        } run: { client in
            try await client.reportingConnection {
                let wanted = try await wanted(of: client)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await client.finder?.checkIsOnly() }
                    group.addTask {
                        try await Interruption.limit(to: amount.time?.duration) {
                            try await client.watch(wanted, past, remaining)
                        }
                    }
                    // The first task that fails ends the other.
                    while try await group.next() != nil {}
                }
            }
        }
    }

    /// The elements to print; `nil` for all, including those that a later pairing adds. Throws if the service lacks one
    /// of them; with several services, if a service lacks all of them.
    private func wanted(of client: Client) async throws -> Set<Int8>? {
        let all = names + only
        guard !all.isEmpty else { return nil }
        let missing = all.filter { client.elements[$0] == nil }
        do {
            guard !also.isEmpty, missing.count < all.count else { return Set(try client.readable(all).map(\.id)) }
            for name in missing {
                let names = client.elements.map(\.name)
                let failure = CommandFailure.unknownName(name, "element", among: names, where: client.device.name)
                await client.console.emit(.warning(failure))
            }
            return Set(try client.readable(all.filter { client.elements[$0] != nil }).map(\.id))
        } catch let failure as CommandFailure {
            guard let name = missing.first, names.contains(name), (try? Target(parsing: name)) != nil else {
                throw failure
            }
            throw CommandFailure(
                failure.code, "\(failure.description); to watch another service too, type --also \(name.shellArgument)")
        }
    }
}

/// Where to begin in the histories of the watched elements.
struct WatchedPast {
    /// For elements without a saved position.
    let begin: HistoryBeginning
    let positions: KeptPositions?
}

extension Client {
    /// Prints values, of all elements if `wanted` is `nil`, until the count is at 0, the service ends or the task is cancelled.
    ///
    /// - Parameter past: where to begin in histories; `nil` for new values only.
    func watch(_ wanted: Set<Int8>?, _ past: WatchedPast?, _ remaining: Countdown) async throws {
        guard let values else { return }
        let kept = past == nil ? [] : try keptElements(wanted)
        let live: @Sendable () async throws -> Void = { [self] in
            for await arrived in values where wanted?.contains(arrived.element.id) ?? true {
                if kept.contains(where: { $0.id == arrived.element.id }) { continue }
                await console.emit(ValueEvent(arrived: arrived, key: device.key))
                if remaining.decrement() == 0 { return }
            }
            if !Task.isCancelled { try await reportEnd() }
        }
        guard let past, !kept.isEmpty else { return try await live() }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await live()
                return true
            }
            for element in kept {
                group.addTask { [self] in try await watchHistory(of: element, past, remaining) }
            }
            while let isOver = try await group.next(), !isOver {}
            group.cancelAll()
        }
    }

    private func keptElements(_ wanted: Set<Int8>?) throws -> [ElementDefinition] {
        let kept = elements.filter { $0.history != nil && $0.access.contains(.read) && wanted?.contains($0.id) ?? true }
        guard kept.isEmpty else { return kept }
        throw CommandFailure(
            "notAllowed",
            "\(device.name) keeps no history of these elements; leave out --since and --resume, or publish them with ':history 24h'"
        )
    }

    /// - Returns: whether the count is at 0. The caller reports the end of the connection.
    private func watchHistory(
        of element: ElementDefinition, _ past: WatchedPast, _ remaining: Countdown
    ) async throws -> Bool {
        let position = past.positions?.position(device.key, element)
        do throws(ElementalError) {
            for try await item in device.anyHistory(of: element, from: position.map { .position($0) } ?? past.begin) {
                switch item {
                case .gap(let gap): await console.emit(.gap(device.key, element, gap))
                case .value(let value):
                    await console.emit(ValueEvent(arrived: ArrivedValue(element, value), key: device.key))
                    past.positions?.note(device.key, element, value.position)
                    if remaining.decrement() == 0 { return true }
                }
            }
        } catch {
            guard error.code == .notConnected || error.code == .cancelled else { throw error }
        }
        return false
    }
}

extension ConsoleEvent where Self == Notice {
    /// Missing values of an element's history.
    static func gap(_ key: ServiceKey, _ element: ElementDefinition, _ gap: HistoryGap) -> Notice {
        let count = gap.count.map(String.init) ?? gap.maximumCount.map { "at most \($0)" }
        return Notice(
            "gap",
            JSONText.members(key) + [
                ("element", .string(element.name)), ("gap", .optional(gap.count.map { Int(clamping: $0) })),
                ("atMost", .optional(gap.maximumCount.map { Int(clamping: $0) })),
            ], isResult: true, "\(element.name): \(count.map { "\($0) " } ?? "")values are missing here")
    }
}
