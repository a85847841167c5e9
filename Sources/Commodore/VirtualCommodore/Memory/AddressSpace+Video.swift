// The memory as the video chip sees it.
extension AddressSpace {
    /// Where the chip's 16 KiB begin, as port A of CIA 2 says.
    var videoBank: UInt16 { UInt16(~cia2.outputA & 0x03) << 14 }
}
