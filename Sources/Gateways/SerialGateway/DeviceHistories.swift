public import Elemental
import NIOCore
import Support

/// Histories that a gateway keeps for its devices, which have no memory for them.
///
/// Each element that clients can read gets times and a history: a value is stamped when it arrives on the line.
///
/// ```swift
/// var configuration = SerialGatewayConfiguration()
/// configuration.histories = .inFiles(HistoryLimits(seconds: 24 * 3600))
/// ```
public struct DeviceHistories: Sendable {
    private enum Place {
        case memory
        case files(directory: String?, interval: Duration)
    }

    /// The maximum number of folders. A device may use another name each time.
    static let maximumFolderCount = 64
    /// The number of attempts to lock a folder. A service that has just been withdrawn still holds it for a moment.
    private static let attemptCount = 3

    /// The limits of each element.
    let limits: HistoryLimits
    private let place: Place
    /// How long a device waits for its files before its values are kept in memory.
    var openingTime = TimeAmount.seconds(15)

    /// Keeps values in memory. They outlast the device's absence, and are lost when the program ends or another device
    /// takes the line.
    public static func inMemory(_ limits: HistoryLimits) -> DeviceHistories {
        DeviceHistories(limits: limits, place: .memory)
    }

    /// Keeps values in files too, which outlast the program.
    ///
    /// The folder of a device is named by its service and its display name, such as `history/oven-Kitchen`. Characters
    /// other than letters, digits, `-` and `_` become `_`, followed by a number that distinguishes such names. If the
    /// folder cannot be used, or is not open within 15 s, the values are kept in memory, and
    /// ``SerialGatewayEvent/keptInMemory(_:)`` reports the reason.
    ///
    /// - Parameters:
    ///   - limits: the limits of each element.
    ///   - directory: the directory of identity and trust, by default that of `SecurityState`.
    ///   - interval: the minimum time between two flushes of values to the disk.
    public static func inFiles(
        _ limits: HistoryLimits, directory: String? = nil, interval: Duration = .seconds(10)
    ) -> DeviceHistories {
        DeviceHistories(limits: limits, place: .files(directory: directory, interval: interval))
    }

    /// Returns the elements of the service: the device's, with times and a history if clients can read them.
    func elements(of device: ElementCatalogue) -> ElementCatalogue {
        let kept = device.map { $0.access.contains(.read) ? $0.withTimesAndHistory(limits) : $0 }
        // The changes do not affect what a catalogue checks.
        return (try? ElementCatalogue(kept)) ?? device
    }

    /// Opens a device's histories.
    ///
    /// - Returns: the histories, in memory only if there is a failure.
    func open(_ folder: String, for elements: ElementCatalogue) async -> (ServiceHistories, failure: SecurityError?) {
        guard case .files(let directory, let interval) = place else { return (ServiceHistories(), nil) }
        var failure: SecurityError?
        for _ in 0..<Self.attemptCount {
            do throws(SecurityError) {
                try await ServiceHistories.checkRoom(
                    for: folder, directory: directory, maximumCount: Self.maximumFolderCount)
                let histories = try await ServiceHistories(
                    inFilesOf: folder, for: elements, directory: directory, interval: interval)
                return (histories, nil)
            } catch {
                failure = error
                if error.code != .locked { break }
            }
        }
        return (ServiceHistories(), failure)
    }

    /// Returns the name of the folder for a device's files.
    static func folder(of service: String, _ displayName: String) -> String {
        func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        let text = "\(service)-\(displayName)"
        // A hyphen in the service's name would make the folder's name ambiguous.
        if text.utf8.count <= 63, text.utf8.allSatisfy(isPlain), !service.contains("-") { return text }
        let plain = text.utf8.prefix(54).map { isPlain($0) ? $0 : UInt8(ascii: "_") }
        let digits = String("\(service)/\(displayName)".utf8.fnv1a, radix: 16)
        return String(decoding: plain, as: UTF8.self) + "-" + String(repeating: "0", count: 8 - digits.count) + digits
    }
}
