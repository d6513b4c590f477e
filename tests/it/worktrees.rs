//! Checkouts: complete, outside the repository, gone afterwards; the user's own is never touched.
