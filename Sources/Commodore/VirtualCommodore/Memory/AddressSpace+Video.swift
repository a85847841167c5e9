// The memory as the video chip sees it.
extension AddressSpace {
    /// The address of the chip's 16 KiB, which port A of CIA 2 selects.
    var videoBank: UInt16 { UInt16(~cia2.outputA & 0x03) << 14 }
}
