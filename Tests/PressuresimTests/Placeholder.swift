@testable import pressuresim
