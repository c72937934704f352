// Package check judges histories. A checker that cannot decide within its limits reports
// that as an anomaly: nothing passes unchecked.
//
// Histories that must be rejected are in testdata; a new checker needs some.
package check
