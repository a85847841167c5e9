import Logging

extension Logger {
    /// A logger that drops everything: the default of this module's types.
    public static var silent: Logger {
        Logger(label: "zeroconf") { _ in SwiftLogNoOpLogHandler() }
    }
}
