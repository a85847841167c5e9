extension Sequence<UInt8> {
    /// The FNV-1a hash of 32 bits. It is the same in every process, and no protection against collisions on purpose.
    @inlinable package var fnv1a: UInt32 { reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 } }
}
