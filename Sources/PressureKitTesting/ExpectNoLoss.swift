public import PressureKit

/// Runs `body`, and fails when a value of the manager's caches is not what it was before.
///
/// ```swift
/// try await expectNoLoss(in: manager) {
///     disk.set(.init(.error(ENOSPC), on: .write))          // on a disk that is full
///     await manager.simulateMemoryWarning(.critical)
/// }
/// ```
///
/// Every value that there is, in memory or not, is read before, and again after: as its readers would get it, by the loader
/// if need be. What is spilled stays spilled. Values that `body` sets or changes on purpose are found too: do that before.
/// Not compared are values that come to be in `body`, that cannot be encoded, or that were replaced by a lighter alternate.
/// A value that writes other bytes each time is not lost, but found too: it says so.
///
/// It throws what it finds, so that Swift Testing and XCTest both report it, with all values in the message. Suspends:
/// values are read on threads of the library's own.
///
/// - Parameters:
///   - manager: Whose values are compared.
///   - body: What must not lose any.
/// - Returns: what `body` returns.
/// - Throws: ``LostValues``; what `body` throws, in which case nothing was compared; what reading a value throws before.
@discardableResult
public func expectNoLoss<Result>(
    in manager: PressureManager,
    _ body: () async throws -> Result
) async throws -> Result {
    try await expectNoLoss(in: manager.root, body)
}

/// The same for the caches of one controller and those below it.
///
/// - Parameters:
///   - controller: Whose values are compared, with those of all controllers below.
///   - body: What must not lose any.
/// - Returns: what `body` returns.
/// - Throws: as the other form.
@discardableResult
public func expectNoLoss<Result>(
    in controller: PressureController,
    _ body: () async throws -> Result
) async throws -> Result {
    let before = try await BlockingPool.shared.run { try controller.digestedValues() }
    let result = try await body()
    let losses = try await BlockingPool.shared.run { before.compactMap { LostValues.Loss($0) } }
    guard losses.isEmpty else { throw LostValues(losses: losses, compared: before.count) }
    return result
}

extension LostValues.Loss {
    /// Reads a value again; `nil` when nothing is wrong with it.
    fileprivate init?(_ value: DigestedValue) {
        do {
            guard let now = try value.read(), now.variant == value.digest.variant, now != value.digest else {
                return nil
            }
            // Read once more, which makes its bytes once more: is it the value, or how it is written?
            if try value.read() != now || now.hasSameBytes(as: value.digest) {
                self.init(path: value.path, reason: .unstable(ByteCount(bytes: now.byteCount)))
                return
            }
            let before = ByteCount(bytes: value.digest.byteCount)
            self.init(path: value.path, reason: .changed(from: before, to: ByteCount(bytes: now.byteCount)))
        } catch {
            self.init(path: value.path, reason: .unreadable("\(error)"))
        }
    }
}
