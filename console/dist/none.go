//go:build noconsole

package dist

// Names has none.
func Names() []string { return nil }

// Read finds nothing.
func Read(string) ([]byte, bool) { return nil, false }
