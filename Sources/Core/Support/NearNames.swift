/// Lists the names in single quotes, with `word` before the last one.
package func quotedList(_ names: [String], _ word: String = "or") -> String {
    let quoted = names.map { "'\($0)'" }
    guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "" }
    return quoted.dropLast().joined(separator: ", ") + " \(word) " + last
}

/// Suggests existing names for a misspelled one.
package enum NearNames {
    /// Longer names, in bytes, are not compared: names of elements and services have at most 255.
    private static let maximumByteCount = 1024

    /// The names nearest to `name`, best first: names that begin with it or contain it, and names that are a few typing
    /// errors away. Case is ignored. An empty name matches nothing, and names without a common character do not match.
    package static func closest(to name: String, among names: some Sequence<String>, limit: Int = 3) -> [String] {
        guard !name.isEmpty, name.utf8.count <= maximumByteCount else { return [] }
        let folded = name.lowercased()
        let wanted = Array(folded)
        let allowed = min(wanted.count < 4 ? 1 : max(2, wanted.count / 3), wanted.count - 1)
        let ranked = names.compactMap { candidate -> (rank: Int, name: String)? in
            guard candidate.utf8.count <= maximumByteCount else { return nil }
            let foldedCandidate = candidate.lowercased()
            let other = Array(foldedCandidate)
            if other.starts(with: wanted) { return (0, candidate) }
            // The difference in length is a lower bound of the edit distance.
            if abs(wanted.count - other.count) <= allowed {
                let distance = editDistance(wanted, other)
                if distance <= allowed { return (distance, candidate) }
            }
            return foldedCandidate.contains(folded) ? (wanted.count, candidate) : nil
        }
        return ranked.sorted { ($0.rank, $0.name) < ($1.rank, $1.name) }.prefix(limit).map(\.name)
    }

    /// The edit distance: the number of characters to insert, delete, replace or swap with their neighbour.
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
