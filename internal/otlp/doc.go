// Package otlp exports spans to an OpenTelemetry collector: OTLP over HTTP, protobuf and gzip, configured by the standard
// OTEL_* variables. The library's exporter would add 16 MB to the binary, because its protobuf types bring gRPC along
// (docs/design/traces.md); this one uses the types of spans alone. Nothing waits for a collector: what it does not take
// in time is dropped and counted.
package otlp
