// Package deliveries checks deliveries against docs/guarantees.md with real processes, a
// sink of its own and leaders that are killed meanwhile.
//
// Each run publishes, injects faults, waits until everything is done, and then judges two
// records: what arrived at the sink, and what the cluster's events say. The judges are
// plain functions of these records, so that a test can give them bad ones.
package deliveries
