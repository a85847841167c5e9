extension Sequence<UInt8> {
    /// The 32-bit FNV-1a hash. It is the same in every process, and does not resist deliberate collisions.
    @inlinable package var fnv1a: UInt32 { reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 } }
}
