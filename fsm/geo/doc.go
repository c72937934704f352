// Package geo encodes positions on earth as numbers of 52 bits, and finds positions near another, bit for bit as
// Redis does.
package geo
