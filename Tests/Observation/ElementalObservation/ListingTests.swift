import TestSupport
import Testing
import Zeroconf

@testable import Elemental
@testable import ElementalObservation

/// What a list makes of what a browser says.
struct ListingTests {
    private static func service(_ name: String, _ type: String = "lamp", port: Int = 1) throws -> DiscoveredService {
        DiscoveredService(
            ResolvedService(
                instance: ServiceInstance(name: name, type: try .tcp(type)), host: "pi.local.", port: port, txt: [:],
                addresses: []))
    }

    /// As many as a browser lists on a network full of them, in any order.
    @Test
    func thousandsOfServicesStaySorted() throws {
        var random = SeededGenerator(seed: 22)
        let numbers = (0..<4096).shuffled(using: &random)
        var listing = Listing()
        for number in numbers { listing.record(.found(try Self.service("Lamp \(number)"))) }
        #expect(listing.services.map(\.name) == (0..<4096).map { "Lamp \($0)" })
        #expect(listing.services == listing.services.sorted())
        for number in numbers where number % 2 == 0 { listing.record(.gone(service: "lamp", name: "Lamp \(number)")) }
        for number in numbers where number % 4 == 1 {
            listing.record(.updated(try Self.service("Lamp \(number)", port: number + 2)))
        }
        let rest = (0..<4096).filter { $0 % 2 == 1 }
        #expect(listing.services.map(\.name) == rest.map { "Lamp \($0)" })
        #expect(listing.services.map(\.port) == rest.map { $0 % 4 == 1 ? $0 + 2 : 1 })
    }

    private static func place(_ name: String) -> SortingPlace { SortingPlace(name: name, service: "lamp") }

    @Test
    func namesAreSortedAsPeopleDo() {
        let names = ["Rover 10", "rover 2", "Rover", "Rover 002", "2 lamps", "Desk lamp", "10 lamps", "desk"]
        let sorted = names.sorted { Self.place($0) < Self.place($1) }
        #expect(sorted.first == "2 lamps" && sorted[1] == "10 lamps")
        #expect(Array(sorted[2...4]) == ["desk", "Desk lamp", "Rover"])
        #expect(Set(sorted[5...6]) == ["rover 2", "Rover 002"] && sorted.last == "Rover 10")
        let huge = ["a" + String(repeating: "9", count: 40), "a1" + String(repeating: "0", count: 40)]
        #expect(Self.place(huge[0]) < Self.place(huge[1]))
    }

    @Test
    func servicesOfLikeNamesAreTold() throws {
        var listing = Listing()
        for (name, type) in [("a", "lamp"), ("A", "lamp"), ("a", "fan"), ("a 1", "lamp"), ("a 01", "lamp")] {
            listing.record(.found(try Self.service(name, type)))
            // Said twice, it is there once.
            listing.record(.updated(try Self.service(name, type)))
        }
        #expect(
            listing.services.map { "\($0.service)/\($0.name)" } == [
                "lamp/A", "fan/a", "lamp/a", "lamp/a 01", "lamp/a 1",
            ])
        listing.record(.gone(service: "fan", name: "A"))
        #expect(listing.services.count == 5)
        listing.record(.gone(service: "fan", name: "a"))
        #expect(listing.services.map(\.name) == ["A", "a", "a 01", "a 1"])
        listing.removeAll()
        #expect(listing.services.isEmpty)
    }
}
