import ArgumentParser
import Elemental
import ElementalFollowing
import ElementalRecording
import Support

struct RecordCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record services' values into an MCAP file, to replay or to look at later.",
        usage: "elemental record [TARGET...] --to FILE [--resume] [--only NAME...] [--for SECONDS] [--max-size BYTES]",
        discussion: """
            Records the TARGETs, or every service that is found, as they come and go. It ends on Ctrl-C and SIGTERM, after \
            --for, and before the file would be larger than --max-size, each time with a complete file. \
            A service that is away is tried again until then; the file contains the gap. Each value has the time of its \
            arrival, from a monotonic clock.

            MCAP is the format of Foxglove and ROS 2: their tools open the file, with a topic SERVICE/INSTANCE/ELEMENT for \
            each element. Every value is in the file within a second, so that 'elemental replay' reads it up to the last \
            second even if this program is killed. An existing file is not overwritten.

            With --resume the file begins where the recordings with --resume into the same folder end: first come the values \
            that were missed, of elements whose service keeps them (publish: 'history 24h'), and then each new one, once and \
            in order. The first recording begins with everything that is kept. Values that are no longer kept appear in the \
            file as 'lost'. Other elements are recorded as without --resume. Where recordings end is kept in the state \
            directory.

              $ elemental record robot --to robot.mcap
              $ elemental record robot/Rover 192.168.1.7:5000 --to both.mcap --for 3600
              $ elemental record robot --to speed.mcap --only Speed --only Battery
              $ elemental replay robot.mcap --publish
              $ elemental record weather --to days/monday.mcap --resume
            """)

    @OptionGroup var options: RecordOptions

    @Option(name: .customLong("to"), help: ArgumentHelp("The file to create.", valueName: "file"))
    var file: String

    var output: OutputOptions { options.output }

    func validate() throws {
        if file.isEmpty { throw ValidationError("--to takes the name of a file") }
        if let limit = options.maximumByteCount, limit < RecorderOptions.smallestMaximumByteCount {
            throw ValidationError(
                "--max-size takes \(RecorderOptions.smallestMaximumByteCount) bytes or more, not \(limit)")
        }
        let (targets, names) = try subjects
        if !names.isEmpty { OldSpelling.note("NAME behind --to FILE", now: "--only NAME") }
        try FollowingOptions.check(targets)
    }

    private var subjects: (targets: [Target], names: [String]) {
        get throws {
            let split = RecordOptions.split(options.words, Array(CommandLine.arguments.dropFirst()))
            return (try checked("TARGET: ") { try split.targets.map(Target.init(parsing:)) }, split.names)
        }
    }

    func perform(_ console: Console) async throws {
        let (targets, oldNames) = try subjects
        let names = options.following.only + oldNames
        try await Interruption.run(console) { [self] in
            let resumed =
                options.resumes ? try await ResumedRecording.open(file, options.following.security.state, console) : nil
            let followed = try await options.following.makeFollower(
                // The recorder bounds the values that wait for the disk.
                with: targets, andAll: targets.isEmpty, for: nil, console, output
            ) {
                $0.keepsLongValues = false
                // The recorder leaves out the other elements, and reports a name that no element has.
                $0.onlyElements = []
                guard let resumed else { return }
                let wanted = Set(names.map { $0.lowercased() })
                $0.history = { key, element in
                    guard wanted.isEmpty || wanted.contains(element.name.lowercased()) else { return nil }
                    return resumed.beginning(of: element, key)
                }
            }
            var recording = RecorderOptions()
            recording.elements = names
            recording.maximumByteCount = options.maximumByteCount
            if let resumed { recording.onPositions = { resumed.keep($0) } }
            let recorder = try await Recorder(path: file, options: recording)
            let progress = RecordProgress(
                names: names, progress: TargetProgress(targets: followed.targets), console: console)
            followed.follower.onEvent(
                { event in
                    guard let event = resumed == nil ? event : resumed?.recorded(event) else { return }
                    recorder.note(event)
                    progress.note(event)
                }, room: { await recorder.waitForRoom() })
            var failure: (any Error)?
            do {
                try await record(followed.follower, recorder, progress)
            } catch {
                failure = error
            }
            let summary = await recorder.finish()
            await console.emit(.recorded(summary))
            if case .failed(let error) = summary.end { throw error }
            if let failure = failure ?? progress.failure { throw failure }
        }
    }

    private func record(_ follower: Follower, _ recorder: Recorder, _ progress: RecordProgress) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await follower.run() }
            group.addTask { await recorder.waitUntilFull() }
            group.addTask { await progress.hasFailed.wait() }
            if let time = options.time?.duration { group.addTask { await Delay.wait(time) } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

/// The options of `record` except for its file.
struct RecordOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "SERVICE, 'SERVICE/INSTANCE NAME' or HOST:PORT (default: every service that is found).",
            discussion: "SERVICE alone stands for all its instances. An IPv6 address goes in brackets.",
            valueName: "target"))
    var words: [String] = []

    @Option(name: .customLong("for"), help: ArgumentHelp("End after that time.", valueName: "seconds"))
    var time: Seconds?

    @Option(
        name: .customLong("max-size"), help: ArgumentHelp("End before the file is larger.", valueName: "bytes"))
    var maximumByteCount: UInt64?

    @Flag(
        name: .customLong("resume"),
        help: "Begin where the last recording with --resume in that folder ends, as far as services keep values.")
    var resumes = false

    @OptionGroup var following: FollowingOptions
    @OptionGroup var output: OutputOptions

    /// Which of the words are targets, and which are names of elements: those behind `--to`, if there are any before it.
    static func split(_ words: [String], _ arguments: [String]) -> (targets: [String], names: [String]) {
        guard let command = arguments.firstIndex(of: "record") else { return (words, []) }
        let rest = arguments[(command + 1)...]
        guard let file = rest.firstIndex(where: { $0 == "--to" || $0.hasPrefix("--to=") }),
            let before = try? RecordOptions.parse(Array(rest[..<file])).words, !before.isEmpty,
            words.starts(with: before)
        else { return (words, []) }
        return (before, Array(words.dropFirst(before.count)))
    }
}

/// Which services were recorded, and whether they have the elements.
private struct RecordProgress: Sendable {
    private struct State {
        var isConnected = false
        /// The services whose missing elements were reported.
        var told: Set<ServiceKey> = []
        var failure: CommandFailure?
    }

    let names: [String]
    let progress: TargetProgress
    let console: Console
    private let state = Locked(State())
    /// Opens when there is nothing to record.
    let hasFailed = Latch()

    private var targets: [Target] { progress.targets }

    /// Why nothing was recorded; `nil` if a service was.
    var failure: CommandFailure? {
        let (failure, isConnected) = state.withLock { ($0.failure, $0.isConnected) }
        if failure != nil || isConnected { return failure }
        guard !targets.isEmpty else {
            return CommandFailure("serviceNotFound", "nothing was recorded: no service connected")
        }
        return progress.failure { "nothing was recorded: \($0) did not connect" }
    }

    func note(_ event: FollowerEvent) {
        progress.note(event)
        guard case .state(let key, .connected(_, let catalogue)) = event else { return }
        state.withLock { $0.isConnected = true }
        guard !targets.isEmpty, let missing = names.first(where: { catalogue[$0] == nil }) else { return }
        let failure = CommandFailure.unknownName(missing, "element", among: catalogue.map(\.name), where: "\(key)")
        if targets.count == 1 {
            state.withLock { $0.failure = failure }
            hasFailed.open()
        } else if state.withLock({ $0.told.insert(key).inserted }) {
            console.offer(.warning(failure))
        }
    }
}
