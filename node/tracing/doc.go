// Package tracing makes spans of deliveries and workflow runs. Every node makes them of the log entries that it applies;
// the leader exports them, the others keep those of the last seconds, which they export if they lead next. All ids are
// hashes of what a span is about, so whichever node exports a span, it is the same one (docs/design/traces.md).
package tracing
