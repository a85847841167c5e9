import Logging

extension Logger {
    /// A logger that drops everything: what the types of this module use when they are given none.
    public static var silent: Logger {
        Logger(label: "zeroconf") { _ in SwiftLogNoOpLogHandler() }
    }
}
