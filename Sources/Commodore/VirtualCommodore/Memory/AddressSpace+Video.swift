// The memory as the video chip sees it.
extension AddressSpace {
    /// Where the chip's 16 KiB begin, as port A of CIA 2 says.
    var videoBank: UInt16 { UInt16(~cia2.outputA & 0x03) << 14 }

    /// A byte of the chip's 16 KiB. In two of the four banks it finds the character set at $1000.
    func readVideo(_ offset: UInt16) -> UInt8 {
        let bank = videoBank
        let offset = offset & 0x3FFF
        if bank & 0x4000 == 0 && offset & 0x3000 == 0x1000 {
            return CharacterGenerator.bytes[Int(offset & 0x0FFF)]
        }
        return ram[bank | offset]
    }
}
