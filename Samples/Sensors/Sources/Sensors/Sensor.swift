/// A number that a sensor measures.
public struct Quantity: Sendable {
    public let name: String
    public let unit: String
    /// What the sensor can measure. A value outside is told as none.
    public let range: ClosedRange<Double>

    /// - Parameter name: for people. Characters that are not printable ASCII are left out, and so is what follows the 60th.
    public init(_ name: String, unit: String, range: ClosedRange<Double>) {
        self.name = String(
            name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || " -_.+/()#".contains($0)) }.prefix(60))
        self.unit = unit
        self.range = range
    }
}

/// Something that measures one or more quantities. Yours conforms to it; `TMP102` is the shortest example.
public protocol Sensor: Sendable {
    var quantities: [Quantity] { get }

    /// Measures now; called on a thread that may block.
    ///
    /// - Returns: a value for each of ``quantities``, `nil` where there is none now.
    /// - Throws: why nothing can be measured; it is told once, and the sensor is asked again at the next sample.
    func read() throws -> [Double?]
}

extension Sensor {
    /// A value for each quantity, whatever ``read()`` does, and the reason if it fails.
    public func sample() -> (values: [Double?], failure: String?) {
        do {
            let values = try read()
            let checked = quantities.indices.map { index in
                values.indices.contains(index)
                    ? values[index].flatMap { quantities[index].range.contains($0) ? $0 : nil } : nil
            }
            return (checked, nil)
        } catch {
            return (quantities.map { _ in nil }, "\(error)")
        }
    }
}
