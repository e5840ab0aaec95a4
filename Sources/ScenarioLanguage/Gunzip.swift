import CZlib
import Foundation

/// What gzip(1) packs, unpacked up to a bound: members one after the other, as the format allows (RFC 1952).
@safe struct Gunzip: ~Copyable {
    enum Refusal: Error {
        /// Ends early, or its checksum is another.
        case damaged
        case tooLarge
    }

    /// Whether the first bytes are those of every gzip file.
    static func isPacked(_ data: Data) -> Bool { data.starts(with: [0x1F, 0x8B]) }

    /// All bytes of all members.
    static func unpack(_ data: Data, atMost limit: Int) throws(Refusal) -> Data {
        try Gunzip().unpack(Array(data), atMost: limit)
    }

    /// On the heap because zlib's state points back at it.
    private let stream: UnsafeMutablePointer<z_stream>

    private init() throws(Refusal) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe pk_inflate_init_gzip(stream) == Z_OK else {
            unsafe stream.deallocate()
            throw .damaged
        }
        unsafe self.stream = stream
    }

    deinit {
        // Made by `init`, and nobody else's.
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    private func unpack(_ packed: [UInt8], atMost limit: Int) throws(Refusal) -> Data {
        var input = packed
        var piece = [UInt8](repeating: 0, count: 1 << 18)
        var output = Data()
        var taken = 0
        var isWhole = false
        while !isWhole || taken < input.count {
            let (status, read, written) = inflate(&input, from: taken, into: &piece)
            taken += read
            output += piece.prefix(written)
            guard output.count <= limit else { throw .tooLarge }
            isWhole = status == Z_STREAM_END
            // Without any progress there is more to come that does not.
            guard isWhole ? unsafe inflateReset(stream) == Z_OK : status == Z_OK && read + written > 0 else {
                throw .damaged
            }
        }
        return output
    }

    private func inflate(
        _ input: inout [UInt8],
        from taken: Int,
        into piece: inout [UInt8]
    ) -> (status: CInt, read: Int, written: Int) {
        // The stream looks at both in this call only.
        unsafe input.withUnsafeMutableBufferPointer { input in
            unsafe piece.withUnsafeMutableBufferPointer { piece in
                unsafe stream.pointee.next_in = input.baseAddress.map { unsafe $0 + taken }
                unsafe stream.pointee.avail_in = uInt(input.count - taken)
                unsafe stream.pointee.next_out = piece.baseAddress
                unsafe stream.pointee.avail_out = uInt(piece.count)
                let status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
                return unsafe (
                    status,
                    input.count - taken - Int(stream.pointee.avail_in),
                    piece.count - Int(stream.pointee.avail_out)
                )
            }
        }
    }
}
