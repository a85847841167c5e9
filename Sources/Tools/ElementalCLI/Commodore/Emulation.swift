import Elemental
import NIOCore
import SerialLines
import Support
import UnixSignals
import VirtualCommodore

/// Runs the program on a thread of its own, with this process's terminal as its screen and keyboard.
extension C64RunCommand {
    struct End: Sendable {
        let picture: Picture
        let report: Notice
        let stopReason: StopReason?
        /// Why the gateway was never reached; `nil` if it was reached or there is none.
        let modemFailure: String?
    }

    /// The maximum number of bytes of standard input that are typed if the machine runs as fast as it can.
    private static let longestInput = 65_536
    /// How long to wait for input between two runs of the machine, in milliseconds. At 1200 baud a byte takes 8.
    private static let step: Int32 = 4

    /// Runs the machine until its program or its time ends, or the task is cancelled, which is not an error.
    func emulate(_ program: Program, _ console: Console) async throws -> End {
        let isEnded = Locked(false)
        let address: SocketAddress? = if let modem { try await ModemLink.resolve(modem) } else { nil }
        // When the terminal closes, or the process gets SIGQUIT, the terminal is restored as well.
        let signals = await UnixSignalsSequence(trapping: .sighup, .sigquit)
        let watcher = Task {
            for await _ in signals { isEnded.withLock { $0 = true } }
        }
        defer { watcher.cancel() }
        return try await withTaskCancellationHandler {
            try await Blocking.finish { try run(program, address, console, while: { !isEnded.withLock { $0 } }) }
        } onCancel: {
            isEnded.withLock { $0 = true }
        }
    }

    private func run(
        _ program: Program, _ address: SocketAddress?, _ console: Console, while isWanted: () -> Bool
    ) throws -> End {
        let machine = Commodore64(standard: standard.value, line: SerialLine(baud: baud))
        machine.line.dcd = false
        var modemFailure = address == nil ? nil : "the machine stopped before"
        var hasConnected = false
        let link = address.map { address in
            ModemLink(address) { event in
                if case .lost(let reason, _) = event { modemFailure = reason } else { hasConnected = true }
                // Events are not written across the machine's screen.
                if !isShown { console.offer(.line(event)) }
            }
        }
        do {
            try machine.start(program)
        } catch {
            throw CommandFailure("invalidFile", "\(error)")
        }
        machine.type(typed?.replacing("\\n", with: "\n") ?? "")
        let screen = isShown ? TerminalScreen(title: title) : nil
        screen?.open()
        defer { screen?.close() }
        if screen != nil || link != nil {
            runPaced(machine, link, screen, while: isWanted)
        } else {
            runFast(machine, while: isWanted)
        }
        return End(
            picture: machine.picture(), report: .screen(of: machine), stopReason: machine.stopReason,
            modemFailure: hasConnected ? nil : modemFailure)
    }

    private func isFinished(_ machine: Commodore64) -> Bool {
        if machine.stopReason != nil { return true }
        return cycles.map { machine.cycle >= $0 } ?? false
    }

    private func runFast(_ machine: Commodore64, while isWanted: () -> Bool) {
        if isatty(STDIN_FILENO) == 0 { machine.type(String(decoding: Self.readInput(while: isWanted), as: UTF8.self)) }
        while !isFinished(machine), isWanted() {
            machine.run(
                cycles: Int(min(cycles ?? .max, machine.cycle + UInt64(standard.value.cyclesPerFrame)) - machine.cycle))
        }
    }

    private static func readInput(while isWanted: () -> Bool) -> [UInt8] {
        var input: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while input.count < longestInput, isWanted() {
            guard Poll.one(STDIN_FILENO, for: POLLIN, timeout: 50) != 0 else { continue }
            let count = buffer.withUnsafeMutableBytes { Descriptor.read(STDIN_FILENO, $0) }
            guard count > 0 || (count < 0 && errno == EINTR) else { break }
            if count > 0 { input += buffer[..<count] }
        }
        return input
    }

    private func runPaced(
        _ machine: Commodore64, _ link: ModemLink?, _ screen: TerminalScreen?, while isWanted: () -> Bool
    ) {
        var keys = TerminalKeys(joystick: joystick)
        // A terminal is read only if this process also has its screen; otherwise its keys are not meant for the machine.
        var readsInput = screen != nil || isatty(STDIN_FILENO) == 0
        var pacer = RealTimePacer(machine)
        var frame: UInt64 = 0
        while !isFinished(machine), isWanted() {
            pacer.run(machine, until: cycles)
            link?.exchange(with: machine)
            if machine.cycle / UInt64(standard.value.cyclesPerFrame) != frame {
                frame = machine.cycle / UInt64(standard.value.cyclesPerFrame)
                keys.advance(machine)
                // 25 or 30 frames per second are enough, and less work for the terminal.
                if frame % 2 == 0 { screen?.show(machine) }
            }
            readsInput = wait(link, readsInput, &keys, machine) && readsInput
        }
        screen?.show(machine)
    }

    /// Waits for input, for bytes from the modem, or for the next step; returns whether standard input is still open.
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
