// Package geo keeps places on earth as numbers of 52 bits, and finds those near another,
// bit for bit as Redis does.
package geo
