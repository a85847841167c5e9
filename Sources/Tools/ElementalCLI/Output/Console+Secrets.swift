import Elemental
import QRCode
import Support

extension Console {
    /// Shows a text as a QR code for a person; nothing where the output is JSON, for a program.
    func show(qrCode text: String) async {
        guard !isJSON, let code = QRCode(text) else { return }
        // Not as a line: it has the colours that make it readable on every terminal.
        await emit(bytes: Array(code.terminalText.utf8))
    }

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
