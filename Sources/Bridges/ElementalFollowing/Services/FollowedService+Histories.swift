internal import Elemental
internal import ElementalWire
internal import NIOCore
internal import Support

/// Elements whose values come from the histories that the service keeps. The next part is requested when the one before
/// is reported and all observers have room.
extension FollowedService {
    /// What a history takes of the follower's memory: one answer of the service.
    private static let historyByteCount = HistoryLimits.maximumValueByteCount

    /// Decides which elements get their values from histories. Runs on the event loop, after the elements are known and
    /// before any value.
    func attachHistories(_ catalogue: ElementCatalogue) {
        let known = state.withLock { state in
            state.positions = state.positions.filter { catalogue[$0.key] != nil }
            return state.positions
        }
        for element in catalogue where element.history != nil && element.access.contains(.read) {
            let position = known[element.name].map { HistoryBeginning.position($0) }
            guard let beginning = position ?? options.history(key, element) else { continue }
            let hasRoom = state.withLock { state in
                guard memory.replace(0, by: Self.historyByteCount, own: state.heldByteCount) else { return false }
                state.heldByteCount += Self.historyByteCount
                state.attachment?.histories[element.id] = (element, beginning)
                return true
            }
            if !hasRoom { leaveOut(element, Self.historyByteCount) }
        }
    }

    /// Returns the memory of this number of histories, which are no longer requested.
    func releaseHistories(_ count: Int) {
        state.withLock { state in
            _ = memory.note(-count * Self.historyByteCount, own: 0)
            state.heldByteCount -= count * Self.historyByteCount
        }
    }

    /// Reports the values until the device has ended or the task is cancelled.
    func followHistories(of device: ElementalDevice) async {
        let histories = state.withLock { $0.attachment.map { Array($0.histories.values) } ?? [] }
        guard !histories.isEmpty else { return }
        // The ping is answered after the first exchange of clock times, so that values have their times from then on.
        if device.clock == nil { _ = try? await device.ping() }
        await withDiscardingTaskGroup { group in
            for (element, beginning) in histories {
                group.addTask { await self.followHistory(of: element, from: beginning, device) }
            }
        }
    }

    private func followHistory(
        of element: ElementDefinition, from beginning: HistoryBeginning, _ device: ElementalDevice
    ) async {
        do throws(ElementalError) {
            for try await item in device.anyHistory(of: element, from: beginning) {
                await loop.run { self.take(item, of: element) }
                for room in rooms { await room() }
            }
        } catch {
            guard error.code != .notConnected, error.code != .cancelled else { return }
            await loop.run { self.endHistory(of: element, device) }
        }
    }

    /// Reports a part of a history. Runs on the event loop.
    private func take(_ item: HistoryItem<ElementValue>, of element: ElementDefinition) {
        var item = item
        if case .value(let value) = item {
            state.withLock { $0.positions[element.name] = value.position }
            if options.keepsLongValues, !hold(value.value.wireByteCount, of: element) {
                item = .gap(HistoryGap(count: 1, maximumCount: 1))
            }
        }
        emitNow(.history(key, element, item))
    }

    /// Falls back to live values, because the service keeps none for this client, despite its catalogue. Runs on the
    /// event loop.
    private func endHistory(of element: ElementDefinition, _ device: ElementalDevice) {
        guard state.withLock({ $0.attachment?.histories.removeValue(forKey: element.id) }) != nil else { return }
        releaseHistories(1)
        emitNow(.history(key, element, .gap(HistoryGap(count: nil, maximumCount: nil))))
        if let value = device.value(of: element) { emitNow(.value(key, element, value, at: device.time(of: element))) }
    }
}
