// Package hll counts distinct elements as Redis does, in the same bytes: 16,384
// registers of six bits, packed or run-length coded, behind a header of 16 bytes. An
// estimate depends on hash, registers and estimator alone, and all three are Redis's.
package hll
