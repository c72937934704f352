// Package exact adds and multiplies doubles without rounding error: a result is a double and a much smaller
// remainder. It is what double-double arithmetic is built of (Dekker 1971, Knuth volume 2). The conversions to
// float64 keep processors from fusing a product with a sum, so that every node gets the same bits.
package exact
