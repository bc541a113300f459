//! Markdown that a model wrote.
