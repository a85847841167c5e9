extension ElementRepresentable {
    /// Writes the value's wire form to the buffer, which has ``wireByteCount`` bytes. More bytes stop the program.
    ///
    /// - Returns: how many bytes were written. If the type is the user's, they may be too few.
    @inlinable
    @inline(__always)
    package func write(to buffer: UnsafeMutableRawBufferPointer) -> Int {
        var destination = OutputRawSpan(buffer: buffer, initializedCount: 0)
        writeWireBytes(to: &destination)
        return destination.finalize(for: buffer)
    }

    /// Appends what `body` writes, at whatever alignment. Inlined, so that what remains of a number is its store.
    @inlinable
    @inline(__always)
    package func write(
        _ byteCount: Int, to destination: inout OutputRawSpan, _ body: (UnsafeMutableRawPointer) -> Void
    ) {
        precondition(byteCount <= destination.freeCapacity, "a value writes more bytes than its wireByteCount")
        destination.withUnsafeMutableBytes { buffer, count in
            guard let base = buffer.baseAddress else { return }
            body(base + count)
            count += byteCount
        }
    }

    /// Appends bytes.
    @inlinable
    @inline(__always)
    package func write(_ bytes: UnsafeRawBufferPointer, to destination: inout OutputRawSpan) {
        guard let start = bytes.baseAddress else { return }
        write(bytes.count, to: &destination) { $0.copyMemory(from: start, byteCount: bytes.count) }
    }
}

extension ElementValue {
    /// The same for a value whose type is known only at run time.
    package func write(to buffer: UnsafeMutableRawBufferPointer) -> Int {
        visit(WritingVisitor(destination: buffer))
        return buffer.count
    }

    /// Appends the value's wire form, exactly ``wireByteCount`` bytes, to `destination`. Stops the program if there is no
    /// room for them.
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        destination.withUnsafeMutableBytes { buffer, count in
            count += write(to: UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + wireByteCount]))
        }
    }

    #if !hasFeature(Embedded)
    /// The value's wire form.
    package var wireBytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: wireByteCount) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            count = write(to: UnsafeMutableRawBufferPointer(rebasing: bytes[..<wireByteCount]))
        }
    }
    #endif
}

// MARK: The form with pointers, for one version

extension ElementRepresentable {
    /// Calls the form with a pointer.
    @available(*, deprecated, message: "implement writeWireBytes(to: inout OutputRawSpan)")
    public func writeWireBytes(to destination: inout OutputRawSpan) {
        write(wireByteCount, to: &destination) { writeWireBytes(to: $0) }
    }

    /// Calls the form with a span.
    @available(*, deprecated, message: "use writeWireBytes(to: inout OutputRawSpan)")
    public func writeWireBytes(to destination: UnsafeMutableRawPointer) {
        _ = write(to: UnsafeMutableRawBufferPointer(start: destination, count: wireByteCount))
    }
}

extension ElementValue {
    /// Writes the value's wire form, exactly ``wireByteCount`` bytes, to `destination`.
    @available(*, deprecated, message: "use writeWireBytes(to: inout OutputRawSpan)")
    public func writeWireBytes(to destination: UnsafeMutableRawPointer) {
        _ = write(to: UnsafeMutableRawBufferPointer(start: destination, count: wireByteCount))
    }
}
