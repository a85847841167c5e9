import QRCode

extension Console {
    /// Shows a text as a QR code for a person; nothing where the output is JSON, for a program.
    func show(qrCode text: String) async {
        guard !isJSON, let code = QRCode(text) else { return }
        // Not as a line: it has the colours that make it readable on every terminal.
        await emit(bytes: Array(code.terminalText.utf8))
    }
}
