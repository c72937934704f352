package command

// MayPrecheck reports whether the command has a Precheck, from its words alone, without the table.
func MayPrecheck(argv [][]byte) bool {
	switch len(argv[0]) {
	case len("RESTORE"):
		return EqualFold(argv[0], "RESTORE")
	case len("FUNCTION"):
		return len(argv) > 1 && EqualFold(argv[0], "FUNCTION") && EqualFold(argv[1], "RESTORE")
	}
	return false
}
