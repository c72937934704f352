package script

import (
	"errors"
	"slices"
	"strings"
)

// Shebang is the first line of a script, if it begins with #!.
type Shebang struct {
	// Given reports whether there is one.
	Given bool
	Flags []string
}

// ReadOnly reports whether the script says of itself that it doesn't write.
func (s *Shebang) ReadOnly() bool { return slices.Contains(s.Flags, "no-writes") }

// ParseShebang reads the first line of a script. Flags that nobody knows are taken: the
// scripts of existing clients carry some that only their service knows.
func ParseShebang(body string) (s Shebang, err error) {
	if !strings.HasPrefix(body, "#!") {
		return s, nil
	}
	line, _, more := strings.Cut(body, "\n")
	if !more {
		return s, errors.New("Invalid script shebang")
	}
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != "#!lua" {
		engine := ""
		if len(words) > 0 {
			engine = words[0]
		}
		return s, errors.New("Unexpected engine in script shebang: " + engine)
	}
	s.Given = true
	for _, w := range words[1:] {
		flags, ok := strings.CutPrefix(w, "flags=")
		if !ok {
			return s, errors.New("Unknown lua shebang option: " + w)
		}
		for _, f := range strings.Split(flags, ",") {
			if f != "" {
				s.Flags = append(s.Flags, f)
			}
		}
	}
	return s, nil
}
