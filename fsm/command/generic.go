package command

// generic is the Generic family: what works on keys of any type.
func generic() []Command { return nil }
