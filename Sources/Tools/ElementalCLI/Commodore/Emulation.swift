import Dispatch
import Elemental
import UnixSignals
import VirtualCommodore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A virtual Commodore that runs a program on a thread of its own, with this process's terminal for its screen and
/// keyboard.
struct Emulation: Sendable {
    let program: Program
    let standard: VideoStandard
    let baud: Int
    /// The port of the joystick that keys move, or nil.
    let joystick: Int?
    /// The gateway at the other end of the line, if there is one.
    let modem: ModemAddress?
    /// Gets what happens to the line to the gateway.
    let onModem: @Sendable (ModemLink.Event) -> Void
    /// What is typed at the start.
    let typed: String
    /// How many cycles it runs, or nil for as long as nobody ends it.
    let limit: UInt64?
    /// What the terminal says below the screen, or nil to show nothing there.
    let title: String?

    /// How it stood at the end.
    struct End: Sendable {
        let picture: Picture
        let report: ScreenReport
        let stopReason: StopReason?
        /// Why no gateway was ever reached, if one was wanted.
        let modemFailure: String?
    }

    /// The longest text that is typed from standard input before a machine starts that is not paced.
    private static let longestInput = 65_536
    /// How long the machine runs in one go, in thousandths of a second. At 1200 baud a byte takes 8.
    private static let step: Int32 = 4
    /// What is made up for, in seconds, where the processor was busy elsewhere.
    private static let maximumLag = 0.1

    /// Runs the machine until its program or its time ends, or the task is cancelled, which is no error.
    ///
    /// - Throws: ``CommandFailure`` if the program does not say where it starts, or the modem's host is not known.
    func run() async throws -> End {
        let isEnded = Locked(false)
        let address: ModemLink.Resolved? = if let modem { try await ModemLink.resolve(modem) } else { nil }
        // A terminal that closes, and Ctrl-\ from elsewhere: they too shall leave the terminal as it was.
        let signals = await UnixSignalsSequence(trapping: .sighup, .sigquit)
        let watcher = Task {
            for await _ in signals { isEnded.withLock { $0 = true } }
        }
        defer { watcher.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "elemental.commodore").async {
                    continuation.resume(with: Result { try run(address, while: { !isEnded.withLock { $0 } }) })
                }
            }
        } onCancel: {
            isEnded.withLock { $0 = true }
        }
    }

    private func run(_ address: ModemLink.Resolved?, while isWanted: () -> Bool) throws -> End {
        let machine = Commodore64(standard: standard, line: SerialLine(baud: baud))
        machine.line.dcd = false
        var modemFailure = address == nil ? nil : "the machine stopped before"
        var hasConnected = false
        let link = address.map { address in
            ModemLink(address) { event in
                switch event {
                case .connected: hasConnected = true
                case .away(let reason, _): modemFailure = reason
                }
                onModem(event)
            }
        }
        do {
            try machine.start(program)
        } catch {
            throw CommandFailure("invalidFile", "\(error)")
        }
        machine.type(typed)
        let screen = title.map { TerminalScreen(title: $0) }
        screen?.open()
        defer { screen?.close() }
        if screen != nil || link != nil {
            runPaced(machine, link, screen, while: isWanted)
        } else {
            runFast(machine, while: isWanted)
        }
        return End(
            picture: machine.picture(), report: ScreenReport(machine), stopReason: machine.stopReason,
            modemFailure: hasConnected ? nil : modemFailure)
    }

    private func isFinished(_ machine: Commodore64) -> Bool {
        if machine.stopReason != nil { return true }
        if let limit { return machine.cycle >= limit }
        return false
    }

    // MARK: - As fast as it goes

    private func runFast(_ machine: Commodore64, while isWanted: () -> Bool) {
        if isatty(STDIN_FILENO) == 0 { machine.type(String(decoding: Self.readInput(while: isWanted), as: UTF8.self)) }
        while !isFinished(machine), isWanted() {
            machine.run(
                cycles: Int(min(limit ?? .max, machine.cycle + UInt64(standard.cyclesPerFrame)) - machine.cycle))
        }
    }

    /// What standard input brings until its end, or until nobody wants it any more.
    private static func readInput(while isWanted: () -> Bool) -> [UInt8] {
        var input: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while input.count < longestInput, isWanted() {
            var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 50) > 0 else { continue }
            let count = buffer.withUnsafeMutableBytes { Descriptor.read(STDIN_FILENO, $0) }
            guard count > 0 || (count < 0 && errno == EINTR) else { break }
            if count > 0 { input += buffer[..<count] }
        }
        return input
    }

    // MARK: - At its real speed

    private func runPaced(
        _ machine: Commodore64, _ link: ModemLink?, _ screen: TerminalScreen?, while isWanted: () -> Bool
    ) {
        var keys = TerminalKeys(joystick: joystick)
        // A terminal is read only where its screen is ours, too; otherwise its keys are somebody else's.
        var readsInput = screen != nil || isatty(STDIN_FILENO) == 0
        let frequency = Double(standard.cyclesPerSecond)
        var start = (time: ContinuousClock.now, cycle: machine.cycle)
        var frame: UInt64 = 0
        while !isFinished(machine), isWanted() {
            let due = start.time.duration(to: .now) / .seconds(1) * frequency
            var missing = due - Double(machine.cycle - start.cycle)
            if missing > Self.maximumLag * frequency {
                // It loses time rather than race.
                missing = Self.maximumLag * frequency
                start = (.now, machine.cycle + UInt64(missing))
            }
            if let limit { missing = min(missing, Double(limit - machine.cycle)) }
            machine.run(cycles: Int(missing))
            link?.exchange(with: machine)
            if machine.cycle / UInt64(standard.cyclesPerFrame) != frame {
                frame = machine.cycle / UInt64(standard.cyclesPerFrame)
                keys.advance(machine)
                // 25 or 30 times a second are enough for the eye and less work for the terminal.
                if frame % 2 == 0 { screen?.show(machine) }
            }
            readsInput = wait(link, readsInput, &keys, machine) && readsInput
        }
        screen?.show(machine)
    }

    /// Waits for input, for bytes from the modem, or until it is time to go on.
    ///
    /// - Returns: whether input may still come.
    private func wait(
        _ link: ModemLink?, _ readsInput: Bool, _ keys: inout TerminalKeys, _ machine: Commodore64
    ) -> Bool {
        var entries = [
            pollfd(fd: readsInput ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: link?.descriptorToRead(for: machine) ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&entries, 2, Self.step) > 0, entries[0].revents != 0 else { return true }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes { Descriptor.read(STDIN_FILENO, $0) }
        if count > 0 { keys.take(buffer[..<count], machine) }
        return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))
    }
}
