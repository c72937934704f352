//go:build !failpoints

package failpoint

// Enabled says whether this binary was built with the tag failpoints.
const Enabled = false

// Eval does nothing in a binary built without the tag failpoints.
func Eval(string) {}
