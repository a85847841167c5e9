import Testing

@testable import ElementalObservation

struct SortingTests {
    @Test
    func namesAreSortedAsPeopleDo() {
        let names = ["Rover 10", "rover 2", "Rover", "Rover 002", "2 lamps", "Desk lamp", "10 lamps", "desk"]
        let sorted = names.sorted { SortingName($0) < SortingName($1) }
        #expect(sorted.first == "2 lamps" && sorted[1] == "10 lamps")
        #expect(Array(sorted[2...4]) == ["desk", "Desk lamp", "Rover"])
        #expect(Set(sorted[5...6]) == ["rover 2", "Rover 002"] && sorted.last == "Rover 10")
        let huge = ["a" + String(repeating: "9", count: 40), "a1" + String(repeating: "0", count: 40)]
        #expect(SortingName(huge[0]) < SortingName(huge[1]))
    }
}
