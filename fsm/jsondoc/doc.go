// Package jsondoc is a JSON document: a tree of values whose objects keep the order of
// their members and whose numbers keep their form, a parser and a writer of its text,
// and JSONPath on it. A change copies only what leads to it, so that a large document
// costs no more to change than a small one, and forks in constant time.
//
// Texts and limits follow RedisJSON 2, whose numbers and errors are those of the Rust
// library serde_json.
package jsondoc
