package httpapi

import "strconv"

// tellAge says how old the state of a stale read may be: its place in the log, its
// cluster time in unix milliseconds, and how long ago in milliseconds this node last
// knew itself up to date.
func (c *call) tellAge() {
	h, n := c.w.Header(), &c.s.names
	set(h, n.index, strconv.FormatUint(c.at.Index, 10))
	set(h, n.clock, strconv.FormatInt(c.at.Now, 10))
	set(h, n.age, strconv.FormatInt(c.at.AgeMillis, 10))
}
