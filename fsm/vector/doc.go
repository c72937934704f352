// Package vector compares vectors of 32-bit floats and finds the nearest ones.
//
// The search is exact: it looks at every vector of an index. Its replies may decide what a
// script writes, so they are equal on every node and on every processor: sums are formed
// in a fixed order of partial sums, and each product is rounded before it is added, so that no
// compiler may fuse the two (Go's specification allows that without the conversion).
//
// An approximate graph was rejected. A graph in the state would have to fork in constant
// time and to be equal on all nodes after any order of insertions and removals, at several
// times the memory of the vectors; one derived by each node would answer differently on
// each. BenchmarkNearest has the cost of the exact scan: 0.12 ms for each thousand vectors of 384
// dimensions where they lie in order (keyspace.Vectors), four times as much at 1,536.
package vector
