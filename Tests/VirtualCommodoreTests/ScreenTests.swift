import PETSCII
import Testing
import VirtualCommodore

/// Programs that print a list of bytes, and what then stands on the screen.
struct ScreenTests {
    private func run(_ bytes: [UInt8]) throws -> Commodore64 {
        // LDA text / BEQ end / JSR CHROUT / INC the address / BNE or INC its high byte / JMP: any length of text.
        var code = Assembler()
        code.label("next")
        code(.lda, "text")
        code(.beq, "end")
        code(.jsr, Entry.chrout)
        code(.inc, 0xC001)
        code(.bne, "next")
        code(.inc, 0xC002)
        code(.jmp, "next")
        code.label("end")
        code(.jmp, "end")
        code.label("text")
        code.data(bytes + [0])
        let commodore = Commodore64()
        try commodore.start(try code.program())
        let end = code.address(of: "end")
        #expect(commodore.run(frames: 2000) { $0.processor.programCounter == end })
        return commodore
    }

    @Test
    func textAppearsInCapitals() throws {
        let commodore = try run([UInt8](petscii: "Hello, world", in: .graphics))
        #expect(commodore.screenRows[0] == "HELLO, WORLD")
        #expect(commodore.ram(at: 0x0400) == 8)
    }
}
