extension String {
    /// The text with every scalar escaped (as in `\u{1B}` and `\n`) that moves a terminal's cursor, ends a line, changes
    /// the direction of writing or is invisible.
    ///
    /// Use it for all text from outside that goes to a terminal or a log. Joiners and variation selectors are kept
    /// where scripts and emoji need them.
    package var printable: String {
        if isPlainASCII { return self }
        var text = ""
        text.reserveCapacity(utf8.count)
        forEachScalar { scalar, isSafe in
            if isSafe { text.unicodeScalars.append(scalar) } else { text += scalar.escaped(asASCII: true) }
        }
        return text
    }

    /// Calls `body` with each scalar and whether it is safe to write to a terminal.
    package func forEachScalar(_ body: (_ scalar: Unicode.Scalar, _ isSafe: Bool) -> Void) {
        var previous: Unicode.Scalar?
        var scalars = unicodeScalars.makeIterator()
        var next = scalars.next()
        while let scalar = next {
            next = scalars.next()
            let isSafe = scalar.isPrintable(after: previous, before: next)
            body(scalar, isSafe)
            previous = isSafe ? scalar : nil
        }
    }

    /// Whether it is all visible ASCII: the fast path for most texts.
    private var isPlainASCII: Bool {
        utf8.withContiguousStorageIfAvailable { $0.allSatisfy { 0x20...0x7E ~= $0 } }
            ?? utf8.allSatisfy { 0x20...0x7E ~= $0 }
    }
}

extension Unicode.Scalar {
    private static let joiners: ClosedRange<UInt32> = 0x200C...0x200D
    private static let variationSelectors: ClosedRange<UInt32> = 0xFE00...0xFE0F

    /// - Parameters:
    ///   - previous: the scalar before it; `nil` if that one is escaped.
    ///   - next: the scalar after it.
    fileprivate func isPrintable(after previous: Unicode.Scalar?, before next: Unicode.Scalar?) -> Bool {
        if value < 0x7F { return value >= 0x20 }
        if value < 0xA0 { return false }
        // Persian words and emoji sequences contain joiners. Between other letters, or at either end, a joiner would
        // only make a name look like another one.
        if Self.joiners ~= value {
            guard let previous, let next else { return false }
            return (previous.canBeJoined || Self.variationSelectors ~= previous.value) && next.canBeJoined
        }
        if Self.variationSelectors ~= value {
            guard let previous else { return false }
            return previous.canBeJoined || previous.properties.isEmoji
        }
        if properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint { return false }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return false
        default: return true
        }
    }

    /// Whether the scalar is an emoji or belongs to a script in which joiners have a visible effect. European scripts
    /// do not.
    private var canBeJoined: Bool {
        value >= 0x530 && !properties.isDefaultIgnorableCodePoint && !properties.isNoncharacterCodePoint
    }
}
