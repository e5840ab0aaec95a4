try await openGallery()
