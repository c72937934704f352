// Package exact adds and multiplies doubles without losing anything: the result comes as
// a double and the much smaller rest. It is what double-double arithmetic is built of
// (Dekker 1971, Knuth volume 2). The conversions to float64 keep processors from fusing a
// product with a sum, so that every node gets the same bits.
package exact
