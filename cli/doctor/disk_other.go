//go:build !linux

package doctor

// unsafeDisks is empty: the types of file systems are numbered on Linux only.
var unsafeDisks map[int64]string
