import Foundation

/// Which cores the ends of a measurement may use.
enum Placement {
    /// Whichever the kernel chooses.
    case free
    /// Both on the first, so that work is measured and not the waking of another core.
    case together
    /// The server on the second, the client on the first: the kernel moves neither about. Free on a machine of one core.
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
