/// The registers and the memory that the video chip sees at one moment. Copying it takes a few microseconds; its
/// picture can be rendered on any thread.
package struct VideoSnapshot: Sendable {
    let video: VideoChip
    /// The chip's 16 KiB. In two of the four banks it finds the character set at $1000.
    private let bank: [UInt8]
    /// The colours of the screen's 1000 characters, 0...15.
    let colours: [UInt8]

    init(_ memory: borrowing AddressSpace) {
        video = memory.video
        let start = memory.videoBank
        bank =
            if start & 0x4000 == 0 {
                memory.ram.bytes(start, 0x1000) + CharacterGenerator.bytes + memory.ram.bytes(start + 0x2000, 0x2000)
            } else {
                memory.ram.bytes(start, 0x4000)
            }
        colours = memory.colours.all
    }

    /// A byte of the chip's 16 KiB.
    func read(_ offset: UInt16) -> UInt8 { bank[Int(offset & 0x3FFF)] }

    /// The picture that the chip would produce.
    package func picture() -> Picture { Renderer(self).picture(self) }
}
