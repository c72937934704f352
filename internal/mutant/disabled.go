//go:build !mutants

package mutant

// Enabled says whether this binary was built with the tag mutants.
const Enabled = false

// Die does nothing in a binary built without the tag mutants.
func Die() {}

// Is is false in a binary built without the tag mutants.
func Is(Name) bool { return false }
