// Package mutant holds the seeded faults of the product: places where a binary built with the tag "mutants" can be told
// to do the wrong thing, so that the checkers can be shown to notice. Without the tag Is is a constant false, the
// compiler removes what depends on it, and nothing reads the environment.
//
// With the tag, the variable TRIREME_MUTANT names the one fault that the process has.
package mutant
