import Elemental
import Support

extension Console {
    /// Whether a code may be written: on a terminal, or as JSON, for which a program has asked. Never to systemd's journal,
    /// which keeps it.
    ///
    /// - Parameter isResult: whether the event that has the code goes to standard output as text.
    func mayShowCodes(isResult: Bool) -> Bool {
        guard isJSON else { return isatty(isResult ? STDOUT_FILENO : STDERR_FILENO) == 1 }
        return !Self.isJournal(STDOUT_FILENO)
    }

    /// Whether an event goes to systemd's journal.
    ///
    /// - Parameter isResult: whether the event goes to standard output as text.
    func isJournal(isResult: Bool) -> Bool { Self.isJournal(isJSON || isResult ? STDOUT_FILENO : STDERR_FILENO) }

    /// Whether what is written there goes to the journal: `JOURNAL_STREAM` names its device and inode (systemd.exec(5)). It
    /// is inherited by programs that write elsewhere, so its being set says nothing.
    private static func isJournal(_ descriptor: Int32) -> Bool {
        guard let name = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return true }
        return String(cString: name) == "\(status.st_dev):\(status.st_ino)"
    }
}
