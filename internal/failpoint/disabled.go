//go:build !failpoints

package failpoint

import "time"

// Enabled says whether this binary was built with the tag failpoints.
const Enabled = false

// Eval does nothing in a binary built without the tag failpoints.
func Eval(string) {}

// WallOffset is 0 in a binary built without the tag failpoints.
func WallOffset() time.Duration { return 0 }
