import Foundation
import MachineReadings

/// A quantity in a file of Linux.
public struct FileSensor: Sensor {
    public let quantities: [Quantity]
    let path: String
    let parse: @Sendable (String) throws -> Double?

    init(_ path: String, _ quantity: Quantity, parse: @escaping @Sendable (String) throws -> Double?) {
        self.path = path
        quantities = [quantity]
        self.parse = parse
    }

    public func read() throws -> [Double?] { [try parse(SmallFile.text(path))] }

    /// The folder's entries in the order of their numbers, at most 256; none if it is absent.
    static func entries(of folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }.prefix(256).map { $0 }
    }

    /// The number that a file's text is.
    static func number(_ text: String) -> Double? {
        Double(text.trimmingCharacters(in: .whitespacesAndNewlines)).flatMap { $0.isFinite ? $0 : nil }
    }
}
