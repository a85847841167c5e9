import Support

/// A waiting sender.
struct RoomWaiter {
    /// An error if the connection ends first.
    let outcome: Outcome<ElementalError?>
    let need: RoomNeed
}

/// What a sender waits for.
enum RoomNeed {
    /// Room for a value of that length, which is sent whole.
    case room(Int)
    /// Room for a value of that length, which is sent in pieces.
    case pieceRoom(Int)
    /// That everything has been sent.
    case nothingUnsent
}
