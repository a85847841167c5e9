/// Finds the names that someone may have meant.
public enum NearNames {
    /// The names nearest to `name`, best first: those that begin with it or contain it, and those that are a
    /// few typing errors away. Upper and lower case do not count.
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

    /// How many characters must be added, removed, changed or swapped with their neighbour to make one into the other.
    private static func editDistance(_ a: [Character], _ b: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var least = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, beforeLast[j - 1] + 1) }
                row.append(least)
            }
            beforeLast = last
            last = row
        }
        return last[b.count]
    }
}
