extension String {
    /// Calls `body` with the text's UTF-8.
    ///
    /// A device uses only this to read a text: the views of `String` would link the code for texts of other encodings,
    /// which is larger than a device's whole program.
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
        // The storage is always available: only texts of other encodings lack it, and Embedded Swift has none of these.
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
