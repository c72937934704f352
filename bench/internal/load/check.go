package load

import (
	"bytes"
	"fmt"
)

// Check says what a good reply looks like. Every reply is checked: a server
// that answers quickly but wrongly must not win a row. The status is always
// 200; empty fields are not checked. White space around the body is ignored.
type Check struct {
	Prefix   string // the body begins with this
	Contains string // the body has this somewhere
	Length   int    // the body has this many bytes, when above 0
	Repeat   string // the body is '[' + Rows times this, with commas + ']'
}

// verify returns an error that shows the reply when it is not a good one.
func (c *Check) verify(status int, body []byte, rows int) error {
	if status != 200 {
		return fmt.Errorf("status %d: %.200s", status, body)
	}
	body = bytes.TrimSpace(body)
	switch {
	case c.Prefix != "" && !hasPrefix(body, c.Prefix):
		return fmt.Errorf("reply does not begin with %s: %.200s", c.Prefix, body)
	case c.Length > 0 && len(body) != c.Length:
		return fmt.Errorf("reply has %d bytes, not %d: %.200s", len(body), c.Length, body)
	case c.Contains != "" && !bytes.Contains(body, []byte(c.Contains)):
		return fmt.Errorf("reply lacks %s: %.200s", c.Contains, body)
	case c.Repeat != "" && !repeats(body, c.Repeat, rows):
		return fmt.Errorf("reply is not %d times %s: %.200s", rows, c.Repeat, body)
	}
	return nil
}

// hasPrefix is bytes.HasPrefix without turning s into a slice.
func hasPrefix(b []byte, s string) bool {
	return len(b) >= len(s) && string(b[:len(s)]) == s
}

// repeats reports whether body is a JSON array of exactly rows times s.
func repeats(body []byte, s string, rows int) bool {
	if len(body) != rows*(len(s)+1)+1 || body[0] != '[' || body[len(body)-1] != ']' {
		return false
	}
	for i := range rows {
		at := 1 + i*(len(s)+1)
		if string(body[at:at+len(s)]) != s || i < rows-1 && body[at+len(s)] != ',' {
			return false
		}
	}
	return true
}
