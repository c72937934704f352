// Package exact adds and multiplies doubles without rounding error: a result is a double and a much smaller
// remainder. Double-double arithmetic is built of it (Dekker 1971, Knuth volume 2). The conversions to
// float64 keep processors from fusing a product with a sum, so that every node gets the same bits.
package exact
