//go:build !mutants

package main

import (
	"fmt"
	"os"
)

// main without the tag has nothing to inject: the faults are not compiled in.
func main() {
	fmt.Fprintln(os.Stderr, "mutants: build with -tags nomsgpack,hashicorpmetrics,mutants")
	os.Exit(2)
}
