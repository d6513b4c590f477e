//! Both sides are built from their own sources, as cargo would build them.
