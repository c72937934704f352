// Package scenario measures the rows of docs/performance.md: it starts the servers that a row needs, loads the
// product and the peer in turns, and judges the median of the pairs. Pairs are interleaved because other users of
// the machine change its speed from minute to minute.
package scenario
