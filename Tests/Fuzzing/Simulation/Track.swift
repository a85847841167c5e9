import Elemental
import Foundation

/// The elements of the simulation: for each direction, every route that a value can take.
enum Track {
    static let up = Elements(first: 1, access: .write)
    static let down = Elements(first: 11, access: .read)
    static let all: ElementCatalogue = [
        up.number, up.blob, up.newest, up.motion, down.number, down.blob, down.newest, down.motion,
    ]

    struct Elements: Sendable {
        let number: Element<UInt64>
        let blob: Element<Data>
        let newest: Element<UInt64>
        let motion: Element<UInt64>

        init(first: Int, access: Access) {
            let name = access == .write ? "up" : "down"
            number = Element(first, "\(name) number", access: access)
            blob = Element(first + 1, "\(name) blob", access: access)
            newest = Element(first + 2, "\(name) newest", access: access, latest: true)
            motion = Element(first + 3, "\(name) motion", transport: .udp, access: access)
        }
    }
}

/// A value that identifies the connection it was sent on, and its position among those of its element.
struct Numbered: Hashable {
    let connection: UInt32
    let place: UInt32

    init(connection: UInt32, place: UInt32) {
        self.connection = connection
        self.place = place
    }

    init(_ value: UInt64) { self.init(connection: UInt32(value >> 32), place: UInt32(truncatingIfNeeded: value)) }

    var value: UInt64 { UInt64(connection) << 32 | UInt64(place) }
}

/// A long value: the number, and bytes derived from it.
enum Blob {
    static func make(_ number: Numbered, byteCount: Int) -> Data {
        var data = Data(repeating: UInt8(truncatingIfNeeded: number.place &* 31 &+ number.connection), count: byteCount)
        for index in 0..<8 { data[index] = UInt8(truncatingIfNeeded: number.value >> (8 * UInt64(index))) }
        return data
    }

    static func number(_ data: Data) -> Numbered {
        check(data.count >= 8, "a blob of \(data.count) bytes came; none so short was sent")
        let number = Numbered((0..<8).reduce(UInt64(0)) { $0 | UInt64(data[data.startIndex + $1]) << (8 * UInt64($1)) })
        // Data compares its bytes at once; a loop over them would take most of the time in debug.
        check(data == make(number, byteCount: data.count), "blob \(number) came with bytes of another")
        return number
    }
}
