// Package mail holds deliveries to what is promised of them (contract C6 to C9), with
// real processes, a sink of its own and leaders that are killed meanwhile.
//
// Each run publishes, hurts, waits until everything is done, and then judges two
// records: what arrived at the sink, and what the cluster's events tell. The judges are
// plain functions of these records, so that a test can show them bad ones.
package mail
