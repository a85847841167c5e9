extension UnsafeRawBufferPointer {
    /// Copies the bytes; 4 or 8 of them, as in most values, without a function call.
    @inline(__always)
    func copy(to destination: UnsafeMutableRawPointer) {
        guard let baseAddress else { return }
        switch count {
        case 4: destination.storeBytes(of: baseAddress.loadUnaligned(as: UInt32.self), as: UInt32.self)
        case 8: destination.storeBytes(of: baseAddress.loadUnaligned(as: UInt64.self), as: UInt64.self)
        default: destination.copyMemory(from: baseAddress, byteCount: count)
        }
    }
}
