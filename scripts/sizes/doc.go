// Command sizes prints how long the files and functions of the repository are, and how many
// lines of tests there are for one line of the product.
//
//	go run ./scripts/sizes [ROOT]
//
// Tests are counted with their helpers: the packages that only tests import, fault runs
// (jepsen) and client programs (clients); scripts of tests are counted beside them. Benchmarks and programs of the Makefile are counted
// by themselves. A test in internal/layout refuses files of the product that are too long.
package main
