// Command mutants builds the product with one seeded fault after the other (package mutant) and has the checkers find it:
//
//	go run -tags nomsgpack ./jepsen/cmd/mutants -table docs/reports/mutants.md
//
// Each has 90 seconds. What the simulation can see it looks for; the others are nodes of their own under a workload, or a test of
// the product that has to fail. The same workload with the same seed, or the same test, has to pass without the fault: otherwise
// what was seen proves nothing, and the fault counts as not tried. Time to compile does not count. It ends with 1 unless every
// fault was found.
package main
