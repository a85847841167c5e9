import Elemental

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How standard input's terminal treats keys.
struct TerminalSettings {
    /// What it was before, while it is changed; given back when the process exits, however early.
    private static let before = Locked<termios?>(nil)

    /// Hands keys on as they are pressed and does not show them. Ctrl-C goes on being a signal; Ctrl-Z and Ctrl-\ and
    /// the stopping of output are off.
    ///
    /// Does nothing where standard input is no terminal.
    func makeRaw() {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
        let isFirst = Self.before.withLock { before in
            defer { before = settings }
            return before == nil
        }
        if isFirst { atexit { TerminalSettings().restore() } }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        settings.c_iflag &= ~tcflag_t(ICRNL | INLCR | IGNCR | IXON | ISTRIP)
        withUnsafeMutableBytes(of: &settings.c_cc) { keys in
            keys[Int(VMIN)] = 1
            keys[Int(VTIME)] = 0
            keys[Int(VSUSP)] = Self.disabled
            keys[Int(VQUIT)] = Self.disabled
        }
        _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }

    /// Makes it what it was before.
    func restore() {
        Self.before.withLock { before in
            guard var settings = before.take() else { return }
            // What was typed meanwhile was not meant for whoever reads next.
            _ = tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        }
    }

    /// The character that stands for none (POSIX's _POSIX_VDISABLE, a macro with a cast, which Swift does not see).
    #if canImport(Darwin)
    private static let disabled: UInt8 = 0xFF
    #else
    private static let disabled: UInt8 = 0
    #endif
}
