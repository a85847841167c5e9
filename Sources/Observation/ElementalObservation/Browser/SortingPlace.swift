/// Where a service is in a list: by name as people sort, then by the name as it is, and by the service's name. No two
/// services have the same.
struct SortingPlace: Comparable {
    private let sortingName: SortingName
    private let name: String
    private let service: String

    init(name: String, service: String) {
        sortingName = SortingName(name)
        self.name = name
        self.service = service
    }

    static func < (a: SortingPlace, b: SortingPlace) -> Bool {
        a.sortingName == b.sortingName
            ? (a.name, a.service) < (b.name, b.service) : a.sortingName < b.sortingName
    }
}
