extension String {
    /// Calls `body` with the text's UTF-8.
    ///
    /// On a device this is all that is needed of a text: its views would bring what texts of other encodings need, which is
    /// larger than a device's whole program.
    package func withBytes(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        #if hasFeature(Embedded)
        lend(body)
        #else
        var copy = self
        copy.withUTF8(body)
        #endif
    }

    #if hasFeature(Embedded)
    /// Not optimized, because the optimizer makes a copy of it for each body, of some 300 bytes.
    @_optimize(none)
    private func lend(_ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        // Embedded Swift has no texts of other encodings, which alone have no storage of this kind.
        utf8.withContiguousStorageIfAvailable(body)
    }
    #endif

    /// How many bytes the text has in UTF-8.
    package var utf8ByteCount: Int {
        var count = 0
        withBytes { count = $0.count }
        return count
    }

    /// Whether both texts have the same bytes.
    package func hasBytes(of other: String) -> Bool {
        var isEqual = false
        other.withBytes { isEqual = hasBytes(UnsafeRawBufferPointer($0)) }
        return isEqual
    }

    /// Whether the text has these bytes.
    package func hasBytes(_ other: UnsafeRawBufferPointer) -> Bool {
        var isEqual = false
        withBytes { bytes in
            guard bytes.count == other.count else { return }
            for index in 0..<bytes.count where bytes[index] != other[index] { return }
            isEqual = true
        }
        return isEqual
    }
}
