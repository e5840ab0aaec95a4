/// A closure that is kept in a ``Lock``, or in another generic type that is read through `inout`.
///
/// A bare one grows: generic code holds a closure in a convention of its own, so that each look converts it and puts it back
/// converted, a thunk around a thunk. Ten thousand looks cost 700 KB of stack in the next call, in release builds too.
package struct Handler<Input, Output>: Sendable {
    package let call: @Sendable (Input) -> Output

    package init(_ call: @escaping @Sendable (Input) -> Output) { self.call = call }
}
