// Package mutant plants seeded faults in the product, so that the checkers can be shown to notice them. The product's
// sources know nothing of it: a fault is a few replaced lines (Edit), and Overlay writes the changed copies of their
// files for go build -overlay.
//
// To add a fault, add a row to the table of its area. A test checks that each row still applies to the sources, and that
// docs/reports/mutants.md has it.
package mutant
