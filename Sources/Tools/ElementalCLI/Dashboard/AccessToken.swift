/// What a browser needs to be let in.
enum AccessToken {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    /// A token that nobody guesses: 22 characters with 132 bits of the system's randomness.
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return String((0..<22).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
    }
}
