import Foundation

/// Which cores the ends of a measurement may use.
enum Placement {
    /// Any cores that the kernel chooses.
    case free
    /// Both on the first core, to measure work and not the wake-up of another core.
    case together
    /// The server on the second, the client on the first: the kernel migrates neither. Unrestricted on a single-core machine.
    case apart

    /// The core of the server, or `nil` for any.
    var server: Int? {
        switch self {
        case .free: nil
        case .together: 0
        case .apart: Self.hasTwo ? 1 : nil
        }
    }

    /// The core of the client, or `nil` for any.
    var client: Int? {
        switch self {
        case .free: nil
        case .together: 0
        case .apart: Self.hasTwo ? 0 : nil
        }
    }

    private static let hasTwo = ProcessInfo.processInfo.activeProcessorCount > 1
}
