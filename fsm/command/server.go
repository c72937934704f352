package command

// server is the Server family.
func server() []Command { return nil }
