import VirtualCommodore

/// A minimal assembler for the tests: bytes, labels, and instructions by the names of their opcodes.
struct Assembler {
    private let origin: UInt16
    private var bytes: [UInt8] = []
    private var labels: [String: UInt16] = [:]
    private var absolutes: [(offset: Int, label: String, part: Part)] = []
    private var branches: [(offset: Int, label: String)] = []

    enum Part { case word, low, high }

    init(at origin: UInt16 = 0xC000) { self.origin = origin }

    mutating func label(_ name: String) { labels[name] = origin + UInt16(bytes.count) }
    mutating func data(_ new: some Sequence<UInt8>) { bytes += new }
    mutating func callAsFunction(_ code: Implied) { bytes.append(code.rawValue) }
    mutating func callAsFunction(_ code: Immediate, _ value: UInt8) { bytes += [code.rawValue, value] }

    /// An instruction with half of a label's address.
    mutating func callAsFunction(_ code: Immediate, _ part: Part, _ label: String) {
        absolutes.append((bytes.count + 1, label, part))
        bytes += [code.rawValue, 0]
    }

    mutating func callAsFunction(_ code: Absolute, at address: UInt16) {
        bytes += [code.rawValue, UInt8(address & 0xFF), UInt8(address >> 8)]
    }

    mutating func callAsFunction(_ code: Absolute, _ label: String) {
        absolutes.append((bytes.count + 1, label, .word))
        bytes += [code.rawValue, 0, 0]
    }

    mutating func callAsFunction(_ code: Branch, _ label: String) {
        branches.append((bytes.count + 1, label))
        bytes += [code.rawValue, 0]
    }

    mutating func call(_ address: UInt16, a: UInt8? = nil, x: UInt8? = nil, y: UInt8? = nil) {
        if let a { self(.lda, a) }
        if let x { self(.ldx, x) }
        if let y { self(.ldy, y) }
        self(.jsr, at: address)
    }

    mutating func store(_ value: UInt8, at address: UInt16) {
        self(.lda, value)
        self(.sta, at: address)
    }

    /// Stores a label's address in two bytes.
    mutating func store(_ label: String, at address: UInt16) {
        self(.lda, .low, label)
        self(.sta, at: address)
        self(.lda, .high, label)
        self(.sta, at: address + 1)
    }

    mutating func stay() {
        label("stay")
        self(.jmp, "stay")
    }

    /// Opens file 2 to device 2, the serial line, with the bytes at the label "name".
    mutating func openLine(nameByteCount: UInt8) {
        call(Entry.setlfs, a: 2, x: 2, y: 0)
        self(.lda, nameByteCount)
        self(.ldx, .low, "name")
        self(.ldy, .high, "name")
        call(Entry.setnam)
        call(Entry.open)
    }

    enum Implied: UInt8 {
        case rts = 0x60, rti = 0x40, cli = 0x58, sei = 0x78, inx = 0xE8, dex = 0xCA, iny = 0xC8, tax = 0xAA
        case tay = 0xA8, tya = 0x98, pha = 0x48, pla = 0x68, clc = 0x18, sec = 0x38, nop = 0xEA, brk = 0x00
    }

    enum Immediate: UInt8 {
        case lda = 0xA9, ldx = 0xA2, ldy = 0xA0, cmp = 0xC9, cpx = 0xE0, and = 0x29, ora = 0x09, eor = 0x49
    }

    enum Absolute: UInt8 {
        case lda = 0xAD, ldx = 0xAE, sta = 0x8D, stx = 0x8E, sty = 0x8C, inc = 0xEE, dec = 0xCE, jmp = 0x4C, jsr = 0x20
        case ldaX = 0xBD, staX = 0x9D, asl = 0x0E, cmp = 0xCD, jmpIndirect = 0x6C
    }

    enum Branch: UInt8 { case bne = 0xD0, beq = 0xF0, bcc = 0x90, bcs = 0xB0, bpl = 0x10, bmi = 0x30 }

    func address(of label: String) -> UInt16 { labels[label] ?? 0 }

    func program() throws -> Program {
        var bytes = bytes
        for (offset, label, part) in absolutes {
            let address = try resolve(label)
            switch part {
            case .word: bytes.replaceSubrange(offset...offset + 1, with: [UInt8(address & 0xFF), UInt8(address >> 8)])
            case .low: bytes[offset] = UInt8(address & 0xFF)
            case .high: bytes[offset] = UInt8(address >> 8)
            }
        }
        for (offset, label) in branches {
            let distance = Int(try resolve(label)) - Int(origin) - offset - 1
            guard let byte = Int8(exactly: distance) else { throw UnresolvedLabel(name: label) }
            bytes[offset] = UInt8(bitPattern: byte)
        }
        return try Program(bytes, at: origin)
    }

    private func resolve(_ label: String) throws -> UInt16 {
        guard let address = labels[label] else { throw UnresolvedLabel(name: label) }
        return address
    }

    struct UnresolvedLabel: Error {
        let name: String
    }
}

/// The KERNAL's entry points that the tests call.
enum Entry {
    static let setlfs: UInt16 = 0xFFBA
    static let setnam: UInt16 = 0xFFBD
    static let open: UInt16 = 0xFFC0
    static let close: UInt16 = 0xFFC3
    static let chkin: UInt16 = 0xFFC6
    static let chkout: UInt16 = 0xFFC9
    static let chrin: UInt16 = 0xFFCF
    static let chrout: UInt16 = 0xFFD2
    static let getin: UInt16 = 0xFFE4
    static let stop: UInt16 = 0xFFE1
    static let plot: UInt16 = 0xFFF0
    static let readst: UInt16 = 0xFFB7
}
