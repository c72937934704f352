//go:build noconsole

package dist

// Read finds nothing.
func Read(string) ([]byte, bool) { return nil, false }
