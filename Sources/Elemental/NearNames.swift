/// Finds the names that someone may have meant.
public enum NearNames {
    /// The names nearest to `name`, best first: those that begin with it or contain it, and those that a few typing
    /// errors away. Upper and lower case do not count.
    public static func closest(to name: String, among names: some Sequence<String>, limit: Int = 3) -> [String] {
        let wanted = Array(name.lowercased())
        let ranked = names.compactMap { candidate -> (rank: Int, name: String)? in
            let other = Array(candidate.lowercased())
            if other.starts(with: wanted) { return (0, candidate) }
            let distance = editDistance(wanted, other)
            if distance <= (wanted.count < 4 ? 1 : max(2, wanted.count / 3)) { return (distance, candidate) }
            return candidate.lowercased().contains(name.lowercased()) ? (wanted.count, candidate) : nil
        }
        return ranked.sorted { ($0.rank, $0.name) < ($1.rank, $1.name) }.prefix(limit).map(\.name)
    }

    /// How many characters must be added, removed or changed to make one into the other.
    private static func editDistance(_ a: [Character], _ b: [Character]) -> Int {
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let next = min(row[j + 1] + 1, row[j] + 1, diagonal + (x == y ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = next
            }
        }
        return row[b.count]
    }
}
