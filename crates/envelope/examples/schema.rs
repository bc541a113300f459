#![forbid(unsafe_code)]
//! Prints the JSON Schema of the record, as it stands in `spec/envelope.schema.json`:
//! `cargo run -p noesc-envelope --example schema > spec/envelope.schema.json`.

fn main() {
    print!("{}", noesc_envelope::schema());
}
