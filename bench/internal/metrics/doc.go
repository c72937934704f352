// Package metrics reads the part of Prometheus's text format that judging a stall needs:
// the buckets of a histogram, summed over its labels.
package metrics
