/// Parses the commands from the Commodore.
///
/// The line has no checksum and no framing marks. Three rules restore synchronisation:
/// - A byte that cannot begin a command is skipped, and so is what follows until there is a whole command.
/// - An incomplete command followed by silence is discarded (see ``silence()``).
/// - The first bytes on a line that was just opened may be the rest of a command, and are not answered.
package struct CommandParser {
    /// Bytes since the last whole command.
    private var pending: [UInt8] = []
    /// Where in ``pending`` the current command begins; above 0 while out of sync.
    private var start = 0
    /// Whether bytes were skipped that are no longer in ``pending``.
    private var hasForgotten = false
    /// Whether the line was in sync before ``pending``.
    private var isInStep = false
    package private(set) var skippedByteCount = 0

    package init() { pending.reserveCapacity(2 * Self.longest) }

    /// A code, a length and 255 bytes.
    private static let longest = 2 + ModemCommand.maximumByteCount

    /// Whether there is an incomplete command that silence would end.
    package var isWaiting: Bool { !pending.isEmpty }

    /// - Returns: the command that the byte completes.
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
            // It is no longer a single unknown command.
            skippedByteCount += start
            pending.removeFirst(start)
            start = 0
            hasForgotten = true
            isInStep = false
        }
        return nil
    }

    /// Discards an incomplete command after a silence that is longer than a program's pauses within a command.
    ///
    /// - Returns: whether it was one whole command with an unknown code, which the modem answers with an error.
    ///   Anything else is noise. The program would take an answer to noise for the answer to its next command.
    package mutating func silence() -> Bool {
        let isUnknownCommand =
            isInStep && !hasForgotten && start > 0 && pending.count >= 2 && pending.count == 2 + Int(pending[1])
        skippedByteCount += pending.count
        begin()
        return isUnknownCommand
    }

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

    /// Whether a command can begin there. While out of sync the length must be valid too.
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
