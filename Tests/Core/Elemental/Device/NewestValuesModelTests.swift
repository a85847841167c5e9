import Testing

/// All that a reader of ``NewestValues`` can see while the event loop stores two values, on hardware that reorders as far as the
/// orders of the accesses allow: the model of release and acquire of C++11 without its speculative stores.
///
/// Each store is a message with a time for its place. A thread knows a time for each place and never reads an older message there.
/// A message that is released carries what its thread knew; who acquires it knows that too.
struct NewestValuesModelTests {
    private enum Place: Int, CaseIterable {
        case sequence, length, first, second
    }

    private enum Step: Hashable {
        case store(Place, Int, releases: Bool)
        case load(Place, acquires: Bool)
        case releaseFence
        case acquireFence
    }

    /// For each place the time that a thread knows.
    private struct View: Hashable {
        var times = [Int](repeating: 0, count: Place.allCases.count)

        subscript(place: Place) -> Int {
            get { times[place.rawValue] }
            set { times[place.rawValue] = newValue }
        }

        mutating func join(_ other: View) { times = zip(times, other.times).map(max) }
    }

    private struct Message: Hashable {
        var value = 0
        var view = View()
    }

    private struct State: Hashable {
        var messages = [[Message]](repeating: [Message()], count: Place.allCases.count)
        /// How many steps the writer and the reader have done, and what they know.
        var written = 0
        var writer = View()
        var released = View()
        var read = 0
        var reader = View()
        /// The times of all loaded messages, which an acquiring fence adds to those that the reader knows.
        var pending = View()
        var seen: [Int] = []
    }

    /// - Returns: what the reader may have loaded at its end.
    private func outcomes(writer: [Step], reader: [Step]) -> Set<[Int]> {
        var found: Set<[Int]> = []
        var known: Set<State> = []
        var open = [State()]
        while let state = open.popLast() {
            guard known.insert(state).inserted else { continue }
            if state.read == reader.count { found.insert(state.seen) }
            if state.written < writer.count { open.append(write(writer[state.written], state)) }
            if state.read < reader.count { open += read(reader[state.read], state) }
        }
        return found
    }

    private func write(_ step: Step, _ state: State) -> State {
        var state = state
        state.written += 1
        switch step {
        case .store(let place, let value, let releases):
            let time = state.messages[place.rawValue].count
            state.writer[place] = time
            var view = releases ? state.writer : state.released
            view[place] = time
            state.messages[place.rawValue].append(Message(value: value, view: view))
        case .releaseFence: state.released = state.writer
        case .load, .acquireFence: break
        }
        return state
    }

    private func read(_ step: Step, _ state: State) -> [State] {
        var state = state
        state.read += 1
        switch step {
        case .load(let place, let acquires):
            let messages = state.messages[place.rawValue]
            return (state.reader[place]..<messages.count).map { time in
                var next = state
                next.seen.append(messages[time].value)
                next.reader[place] = time
                next.pending.join(messages[time].view)
                if acquires { next.reader.join(messages[time].view) }
                return next
            }
        case .acquireFence: state.reader.join(state.pending)
        case .store, .releaseFence: break
        }
        return [state]
    }

    /// `store(_:length:_:)`.
    private func storeWords(oddFirst: Bool = true, wordsRelease: Bool = true, evenReleases: Bool = true) -> [Step] {
        (1...2).flatMap { value -> [Step] in
            let odd = Step.store(.sequence, 2 * value - 1, releases: false)
            let words = [Place.length, .first, .second].map { Step.store($0, value, releases: wordsRelease) }
            let even = Step.store(.sequence, 2 * value, releases: evenReleases)
            return oddFirst ? [odd] + words + [even] : words + [odd, even]
        }
    }

    /// `setBlock(_:_:)`.
    private func storeBlock(hasFence: Bool = true) -> [Step] {
        (1...2).flatMap { value -> [Step] in
            [.store(.sequence, 2 * value - 1, releases: false)] + (hasFence ? [.releaseFence] : [])
                + [Place.length, .first, .second].map { .store($0, value, releases: false) }
                + [.store(.sequence, 2 * value, releases: true)]
        }
    }

    /// The subscript: of a number's bytes, which it acquires, or of a block's.
    private func load(acquires: Bool, hasFence: Bool = true) -> [Step] {
        [.load(.sequence, acquires: true), .load(.length, acquires: true)]
            + [Place.first, .second].map { .load($0, acquires: acquires) } + (hasFence ? [.acquireFence] : [])
            + [.load(.sequence, acquires: false)]
    }

    /// Whether a reader takes something that is not one of the values: the even number before and after is twice the value.
    private func isTorn(_ seen: [Int]) -> Bool {
        let isTaken = seen[0].isMultiple(of: 2) && seen[0] == seen[4]
        return isTaken && seen[1...3].contains { $0 != seen[0] / 2 }
    }

    @Test("whatever the order of the stores, a reader takes a whole value or looks again")
    func whole() {
        for (writer, reader) in [(storeWords(), load(acquires: true)), (storeBlock(), load(acquires: false))] {
            let outcomes = outcomes(writer: writer, reader: reader)
            #expect(!outcomes.contains(where: isTorn))
            // It does see each value, and changes that it rejects.
            for value in 0...2 { #expect(outcomes.contains([2 * value, value, value, value, 2 * value])) }
            #expect(outcomes.contains { $0[0] != $0[4] })
        }
    }

    @Test("each of the orders is needed")
    func orders() {
        let broken = [
            (storeWords(oddFirst: false), load(acquires: true)),
            (storeWords(wordsRelease: false), load(acquires: true)),
            (storeWords(evenReleases: false), load(acquires: true)),
            (storeBlock(hasFence: false), load(acquires: false)),
            (storeBlock(), load(acquires: false, hasFence: false)),
        ]
        for (writer, reader) in broken {
            #expect(outcomes(writer: writer, reader: reader).contains(where: isTorn), "\(writer) \(reader)")
        }
    }
}
