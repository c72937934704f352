package lua

// Patterns, matched as Lua 5.1 matches them, with every comparison counted: a pattern
// that backtracks without end uses up the budget.

const (
	maxCaptures = 32
	maxMatch    = 200 // nested attempts, which take Go stack

	captureOpen     = -1
	capturePosition = -2
)

// matcher is one attempt of a pattern on a text.
type matcher struct {
	vm       *State
	text     string
	pattern  string
	captures []capturing
	depth    int
}

type capturing struct{ at, length int }

// failed is the end of an attempt that doesn't match.
const failed = -1

// class returns the end of the single-character class at p.
func (m *matcher) class(p int) int {
	if p >= len(m.pattern) {
		m.vm.Errorf("malformed pattern (ends with '%')")
	}
	c := m.pattern[p]
	p++
	switch c {
	case '%':
		if p >= len(m.pattern) {
			m.vm.Errorf("malformed pattern (ends with '%')")
		}
		return p + 1
	case '[':
		return m.setEnd(p)
	}
	return p
}

// setEnd returns the end of the set whose first character is at p.
func (m *matcher) setEnd(p int) int {
	from := p
	if p < len(m.pattern) && m.pattern[p] == '^' {
		p++
	}
	for first := true; first || p < len(m.pattern) && m.pattern[p] != ']'; first = false {
		if p >= len(m.pattern) {
			m.vm.Errorf("malformed pattern (missing ']')")
		}
		c := m.pattern[p]
		p++
		if c == '%' && p < len(m.pattern) {
			p++
		}
	}
	if p >= len(m.pattern) {
		m.vm.Errorf("malformed pattern (missing ']')")
	}
	m.vm.Step((p - from) / parsePerStep)
	return p + 1
}

func matchClass(c, class byte) bool {
	var in bool
	switch class | 0x20 {
	case 'a':
		in = isLetter(c)
	case 'c':
		in = c < ' ' || c == 127
	case 'd':
		in = isDigit(c)
	case 'l':
		in = 'a' <= c && c <= 'z'
	case 'p':
		in = c > ' ' && c < 127 && !isLetter(c) && !isDigit(c)
	case 's':
		in = isSpace(c)
	case 'u':
		in = 'A' <= c && c <= 'Z'
	case 'w':
		in = isLetter(c) || isDigit(c)
	case 'x':
		in = isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
	case 'z':
		in = c == 0
	default:
		return class == c
	}
	if !isLetter(class) {
		return class == c
	}
	return in == (class >= 'a')
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// inSet reports whether c is in the set between p, at its bracket, and end, at the closing
// one.
func (m *matcher) inSet(c byte, p, end int) bool {
	in := true
	p++
	if m.pattern[p] == '^' {
		in = false
		p++
	}
	m.vm.Step((end - p) / 8)
	m.vm.Step(setCost)
	for ; p < end; p++ {
		switch {
		case m.pattern[p] == '%' && p+1 < len(m.pattern):
			p++
			if matchClass(c, m.pattern[p]) {
				return in
			}
		case p+2 < end && m.pattern[p+1] == '-':
			if m.pattern[p] <= c && c <= m.pattern[p+2] {
				return in
			}
			p += 2
		case m.pattern[p] == c:
			return in
		}
	}
	return !in
}

// single reports whether the character at s matches the class between p and end.
func (m *matcher) single(s, p, end int) bool {
	if s >= len(m.text) {
		return false
	}
	c := m.text[s]
	switch m.pattern[p] {
	case '.':
		return true
	case '%':
		return matchClass(c, m.pattern[p+1])
	case '[':
		return m.inSet(c, p, end-1)
	}
	return m.pattern[p] == c
}

// match returns the end of the pattern from p on the text from s, failed if it doesn't match.
func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxMatch*10 {
		m.vm.Errorf("pattern too complex")
	}
	defer func() { m.depth-- }()
	for {
		m.vm.Step(1)
		if p >= len(m.pattern) {
			return s
		}
		switch m.pattern[p] {
		case '(':
			if p+1 < len(m.pattern) && m.pattern[p+1] == ')' {
				return m.open(s, p+2, capturePosition)
			}
			return m.open(s, p+1, captureOpen)
		case ')':
			return m.close(s, p+1)
		case '$':
			if p+1 == len(m.pattern) {
				if s == len(m.text) {
					return s
				}
				return failed
			}
		case '%':
			next := byte(0)
			if p+1 < len(m.pattern) {
				next = m.pattern[p+1]
			}
			switch {
			case next == 'b':
				if s = m.balanced(s, p+2); s == failed {
					return failed
				}
				p += 4
				continue
			case next == 'f':
				end := m.frontier(s, p+2)
				if end == failed {
					return failed
				}
				p = end
				continue
			case isDigit(next):
				if s = m.back(s, next); s == failed {
					return failed
				}
				p += 2
				continue
			}
		}
		end := m.class(p)
		suffix := byte(0)
		if end < len(m.pattern) {
			suffix = m.pattern[end]
		}
		switch suffix {
		case '?':
			if m.single(s, p, end) {
				if r := m.match(s+1, end+1); r != failed {
					return r
				}
			}
			p = end + 1
		case '*':
			return m.greedy(s, p, end, 0)
		case '+':
			return m.greedy(s, p, end, 1)
		case '-':
			return m.lazy(s, p, end)
		default:
			if !m.single(s, p, end) {
				return failed
			}
			s, p = s+1, end
		}
	}
}

// greedy matches as many as it can, and at least n.
func (m *matcher) greedy(s, p, end, n int) int {
	i := 0
	for m.single(s+i, p, end) {
		if i++; i%8 == 0 {
			m.vm.Step(1)
			m.vm.Step(1)
		}
	}
	for ; i >= n; i-- {
		if r := m.match(s+i, end+1); r != failed {
			return r
		}
	}
	return failed
}

// lazy matches as few as it can.
func (m *matcher) lazy(s, p, end int) int {
	for {
		if r := m.match(s, end+1); r != failed {
			return r
		}
		if !m.single(s, p, end) {
			return failed
		}
		s++
	}
}

func (m *matcher) open(s, p, length int) int {
	if len(m.captures) >= maxCaptures {
		m.vm.Errorf("too many captures")
	}
	m.captures = append(m.captures, capturing{s, length})
	n := len(m.captures)
	r := m.match(s, p)
	if r == failed {
		m.captures = m.captures[:n-1]
	}
	return r
}

func (m *matcher) close(s, p int) int {
	open := -1
	for i := len(m.captures) - 1; i >= 0; i-- {
		if m.captures[i].length == captureOpen {
			open = i
			break
		}
	}
	if open < 0 {
		m.vm.Errorf("invalid pattern capture")
	}
	m.captures[open].length = s - m.captures[open].at
	r := m.match(s, p)
	if r == failed {
		m.captures[open].length = captureOpen
	}
	return r
}

// balanced returns the end of the text that begins with one character of the pattern and ends
// with the matching other one.
func (m *matcher) balanced(s, p int) int {
	if p+1 >= len(m.pattern) {
		m.vm.Errorf("unbalanced pattern")
	}
	if s >= len(m.text) || m.text[s] != m.pattern[p] {
		return failed
	}
	first, last, depth := m.pattern[p], m.pattern[p+1], 1
	for i := s + 1; i < len(m.text); i++ {
		if i%8 == 0 {
			m.vm.Step(1)
		}
		switch c := m.text[i]; {
		case c == last:
			if depth--; depth == 0 {
				return i + 1
			}
		case c == first:
			depth++
		}
	}
	return failed
}

// frontier continues the pattern after the set at p if s lies between a character outside
// that set and one inside.
func (m *matcher) frontier(s, p int) int {
	if p >= len(m.pattern) || m.pattern[p] != '[' {
		m.vm.Errorf("missing '[' after '%f' in pattern")
	}
	m.vm.Step(setCost)
	end := m.class(p)
	var before, after byte
	if s > 0 {
		before = m.text[s-1]
	}
	if s < len(m.text) {
		after = m.text[s]
	}
	if m.inSet(before, p, end-1) || !m.inSet(after, p, end-1) {
		return failed
	}
	return end
}

// back matches what a capture has matched before.
func (m *matcher) back(s int, digit byte) int {
	i := int(digit) - '1'
	if i < 0 || i >= len(m.captures) || m.captures[i].length == captureOpen {
		m.vm.Errorf("invalid capture index")
	}
	c := m.captures[i]
	n := max(c.length, 0)
	m.vm.Step(n / bytesPerStep)
	if len(m.text)-s < n || m.text[c.at:c.at+n] != m.text[s:s+n] {
		return failed
	}
	return s + n
}

// capture is one of what was captured; the whole match from s to e is number 0 if the
// pattern captures nothing.
func (m *matcher) capture(i, s, e int) Value {
	if i >= len(m.captures) {
		if i != 0 {
			m.vm.Errorf("invalid capture index")
		}
		return m.vm.String(m.text[s:e])
	}
	c := m.captures[i]
	switch c.length {
	case captureOpen:
		m.vm.Errorf("unfinished capture")
	case capturePosition:
		return Int(c.at + 1)
	}
	return m.vm.String(m.text[c.at : c.at+c.length])
}

// all are all captures, or the whole match if there are none and whole is set.
func (m *matcher) all(s, e int, whole bool) []Value {
	n := len(m.captures)
	if n == 0 && whole {
		n = 1
	}
	values := make([]Value, n)
	for i := range values {
		values[i] = m.capture(i, s, e)
	}
	return values
}
