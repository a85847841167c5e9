/// A service's devices, stored for iteration when a value is sent to all of them.
struct DeviceRoster {
    /// In no particular order.
    private(set) var devices: [ElementalDevice] = []
    private var positions: [ObjectIdentifier: Int] = [:]

    mutating func insert(_ device: ElementalDevice) {
        guard positions[ObjectIdentifier(device)] == nil else { return }
        positions[ObjectIdentifier(device)] = devices.count
        devices.append(device)
    }

    /// - Returns: whether it was present.
    mutating func remove(_ device: ElementalDevice) -> Bool {
        guard let position = positions.removeValue(forKey: ObjectIdentifier(device)) else { return false }
        let last = devices.removeLast()
        if last !== device {
            devices[position] = last
            positions[ObjectIdentifier(last)] = position
        }
        return true
    }
}

extension [ElementalDevice] {
    /// Visits each without retaining it: the array keeps them alive.
    @inline(__always)
    func forEachUnretained(_ body: (ElementalDevice) -> Void) {
        withUnsafeBytes { bytes in
            for reference in bytes.bindMemory(to: UnsafeRawPointer.self) {
                Unmanaged<ElementalDevice>.fromOpaque(reference)._withUnsafeGuaranteedRef(body)
            }
        }
    }
}
