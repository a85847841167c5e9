/// Finds the commands in what comes from the Commodore.
///
/// The line has no checksum and nothing that marks a beginning. Three rules bring both ends into step again:
/// - A byte that begins no command is skipped, and so is what follows it until a whole command is there.
/// - Half a command followed by silence is no command (see ``silence()``).
/// - What comes first on a line that was just opened may be the rest of something, and is not answered.
package struct CommandParser {
    /// Bytes that came since the last whole command.
    private var pending: [UInt8] = []
    /// Where in ``pending`` the command under way begins; above 0 while out of step.
    private var start = 0
    /// Whether bytes went by that are not in ``pending`` any more.
    private var hasForgotten = false
    /// Whether the line was in step before ``pending``.
    private var isInStep = false
    /// Bytes that belonged to no command.
    package private(set) var skippedByteCount = 0

    package init() { pending.reserveCapacity(2 * Self.longest) }

    /// A code, a length and 255 bytes.
    private static let longest = 2 + ModemCommand.maximumByteCount

    /// Whether something is under way that silence would end.
    package var isWaiting: Bool { !pending.isEmpty }

    /// Takes a byte from the line.
    ///
    /// - Returns: the command that it completes.
    package mutating func receive(_ byte: UInt8) -> ModemCommand? {
        pending.append(byte)
        while start < pending.count {
            guard mayBegin(at: start) else {
                start += 1
                continue
            }
            let count = pending.count - start
            guard count >= 2, count == 2 + Int(pending[start + 1]) else { break }
            let command = ModemCommand(code: pending[start], bytes: Array(pending[(start + 2)...]))
            skippedByteCount += start
            begin()
            return command
        }
        if start >= Self.longest {
            // No single unknown command any more.
            skippedByteCount += start
            pending.removeFirst(start)
            start = 0
            hasForgotten = true
            isInStep = false
        }
        return nil
    }

    /// The line was silent for longer than a program pauses within a command: what is there stays half.
    ///
    /// - Returns: whether it was one whole command of an unknown code, which the modem answers with an error. Other
    ///   remains are noise, and an answer to noise would be taken for that of the next command.
    package mutating func silence() -> Bool {
        let isUnknownCommand =
            isInStep && !hasForgotten && start > 0 && pending.count >= 2 && pending.count == 2 + Int(pending[1])
        skippedByteCount += pending.count
        begin()
        return isUnknownCommand
    }

    /// The line was reopened.
    package mutating func reset() {
        skippedByteCount += pending.count
        begin()
        isInStep = false
    }

    private mutating func begin() {
        pending.removeAll(keepingCapacity: true)
        start = 0
        hasForgotten = false
        isInStep = true
    }

    /// Whether a command can begin there. Out of step the lengths must be right as well.
    private func mayBegin(at index: Int) -> Bool {
        guard ModemCommand.codes.contains(pending[index]) else { return false }
        guard index > 0 || !isInStep, index + 1 < pending.count else { return true }
        return switch pending[index] {
        case 3, 4: pending[index + 1] == 0
        case 5: pending[index + 1] > 0
        default: true
        }
    }
}
