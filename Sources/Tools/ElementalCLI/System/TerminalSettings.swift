import Elemental
import Support

/// The input settings of the terminal at standard input, if that is one.
struct TerminalSettings {
    /// The original settings while they are changed. They are restored when the process exits, however early.
    private static let before = Locked<termios?>(nil)

    /// Delivers keys as they are pressed and does not echo them. Ctrl-C remains a signal; Ctrl-Z, Ctrl-\ and flow control
    /// are off.
    func makeRaw() {
        change(TCSADRAIN) { settings in
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
            settings.c_iflag &= ~tcflag_t(ICRNL | INLCR | IGNCR | IXON | ISTRIP)
            withUnsafeMutableBytes(of: &settings.c_cc) { keys in
                keys[Int(VMIN)] = 1
                keys[Int(VTIME)] = 0
                keys[Int(VSUSP)] = Self.disabled
                keys[Int(VQUIT)] = Self.disabled
            }
        }
    }

    /// Does not echo what is typed, except for the end of a line, and drops what was typed before.
    func hideInput() {
        change(TCSAFLUSH) { settings in
            settings.c_lflag &= ~tcflag_t(ECHO)
            settings.c_lflag |= tcflag_t(ICANON | ISIG | ECHONL)
        }
    }

    private func change(_ when: Int32, _ body: (inout termios) -> Void) {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
        let isFirst = Self.before.withLock { before in
            defer { before = before ?? settings }
            return before == nil
        }
        if isFirst { atexit { TerminalSettings().restore() } }
        body(&settings)
        _ = tcsetattr(STDIN_FILENO, when, &settings)
    }

    func restore() {
        Self.before.withLock { before in
            guard var settings = before.take() else { return }
            // Input typed meanwhile was not meant for the shell: it is dropped.
            _ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        }
    }

    /// The value that disables a special character: POSIX's _POSIX_VDISABLE, a macro with a cast, which Swift cannot import.
    #if canImport(Darwin)
    private static let disabled: UInt8 = 0xFF
    #else
    private static let disabled: UInt8 = 0
    #endif
}
