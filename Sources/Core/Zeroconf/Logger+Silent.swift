import Logging

extension Logger {
    /// A logger that drops everything.
    package static var silent: Logger {
        Logger(label: "zeroconf") { _ in SwiftLogNoOpLogHandler() }
    }
}
