/// A QR code (ISO/IEC 18004), model 2, of bytes: 21 to 177 modules a side, at error correction L or M.
///
/// It has no dependency and draws nothing: ``QRCode/terminalText`` is for a terminal, and ``QRCode/subscript(_:_:)``
/// returns the modules for any other drawing.
package struct QRCode: Sendable, Equatable {
    /// The share of the code that may be unreadable.
    package enum Correction: Int, Sendable, CaseIterable {
        /// About 7 %.
        case low
        /// About 15 %.
        case medium
    }

    /// The versions of the standard, each four modules larger than the one before.
    package static let versions = 1...40

    /// The version, 1...40.
    package let version: Int
    /// The error correction.
    package let correction: Correction
    /// The mask, 0...7. The one with the lowest penalty, unless the caller chooses one.
    package let mask: Int
    private let modules: Modules

    /// The number of modules a side, without the quiet zone.
    package var size: Int { modules.size }

    /// Whether the module is dark. Modules outside the code are light.
    package subscript(_ x: Int, _ y: Int) -> Bool {
        (0..<size).contains(x) && (0..<size).contains(y) && modules[x, y]
    }

    /// The standard's penalty score: the harder the code is to read, the higher the score.
    var penalty: Int { modules.penalty }

    /// The smallest code that holds the bytes.
    ///
    /// - Parameters:
    ///   - versions: the versions to choose from.
    ///   - mask: 0...7, for tests; `nil` chooses the one with the lowest penalty.
    /// - Returns: `nil` if the bytes do not fit into the largest version.
    package init?(
        _ bytes: [UInt8], correction: Correction = .medium, versions: ClosedRange<Int> = versions, mask: Int? = nil
    ) {
        let layouts = versions.clamped(to: Self.versions).lazy.map {
            CodewordLayout(version: $0, correction: correction)
        }
        guard let layout = layouts.first(where: { bytes.count <= $0.maximumByteCount }) else { return nil }
        version = layout.version
        self.correction = correction
        let codewords = layout.codewords(bytes)
        var best: (mask: Int, modules: Modules, penalty: Int)?
        for candidate in mask.map({ $0...$0 }) ?? 0...7 {
            let modules = Modules(layout: layout, codewords: codewords, mask: candidate)
            // No comparison is needed if the caller chose the mask.
            let penalty = mask == nil ? modules.penalty : 0
            if penalty < best?.penalty ?? .max { best = (candidate, modules, penalty) }
        }
        guard let best else { return nil }
        self.mask = best.mask
        modules = best.modules
    }

    /// The smallest code that holds the text's UTF-8.
    package init?(_ text: String, correction: Correction = .medium) {
        self.init(Array(text.utf8), correction: correction)
    }
}
