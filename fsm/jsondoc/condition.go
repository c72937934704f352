package jsondoc

import "regexp"

func (e either) holds(s *search, v Value) bool {
	for _, part := range e {
		if part.holds(s, v) {
			return true
		}
	}
	return false
}

func (b both) holds(s *search, v Value) bool {
	for _, part := range b {
		if !part.holds(s, v) {
			return false
		}
	}
	return true
}

func (n not) holds(s *search, v Value) bool { return !n.condition.holds(s, v) }

// holds is true of a path that finds anything, null and false included.
func (e exists) holds(s *search, v Value) bool {
	if e.path == nil {
		return e.constant == Bool(true)
	}
	if e.path.Single() {
		return s.side(e.operand, v) != nil
	}
	if e.absolute {
		v = s.root
	}
	return len(s.find(v, e.path)) > 0
}

// holds compares. What is missing equals only what is missing, and has no order.
func (c compared) holds(s *search, v Value) bool {
	l, r := s.side(c.left, v), s.side(c.right, v)
	switch c.op {
	case "==":
		return s.same(l, r)
	case "!=":
		return !s.same(l, r)
	case "=~":
		return s.matches(&c, l, r)
	}
	if l == nil || r == nil || l.Kind() < KindInteger {
		return false
	}
	order, ok := compare(l, r)
	switch {
	case !ok || !s.work.Spend(1):
		return false
	case c.op == "<":
		return order < 0
	case c.op == "<=":
		return order <= 0
	case c.op == ">":
		return order > 0
	}
	return order >= 0
}

func (s *search) same(l, r Value) bool {
	if l == nil || r == nil {
		return l == nil && r == nil
	}
	return Equal(l, r, s.work)
}

// side is the value of an operand for v: nil unless its path finds exactly one.
func (s *search) side(o operand, v Value) Value {
	switch {
	case o.path == nil:
		return o.constant
	case !o.absolute && o.path.Single():
		return s.follow(v, o.path)
	case !o.absolute:
		return only(s.find(v, o.path))
	}
	known, ok := s.absolute[o.path]
	if !ok {
		known = only(s.find(s.root, o.path))
		s.absolute[o.path] = known
	}
	return known
}

// find runs a path inside a condition.
func (s *search) find(v Value, p *Path) []*Match {
	inner := &search{root: s.root, work: s.work, memo: s.memo}
	return inner.run(&Match{Value: v, index: noIndex}, p)
}

func only(found []*Match) Value {
	if len(found) != 1 {
		return nil
	}
	return found[0].Value
}

// matches holds the regular expression on the right, anywhere, against the string on the
// left.
func (s *search) matches(c *compared, l, r Value) bool {
	text, ok := l.(String)
	if !ok {
		return false
	}
	re, size := c.pattern, c.program
	if re == nil {
		pattern, ok := r.(String)
		if !ok {
			return false
		}
		if re, size = s.expression(string(pattern)); re == nil {
			return false
		}
	}
	return s.work.Spend(1+len(text)*size/programStep) && re.MatchString(string(text))
}

// expression is the regular expression of a pattern that a document has, nil if it
// is none or too large.
func (s *search) expression(pattern string) (*regexp.Regexp, int) {
	if s.compiled == nil || s.pattern != pattern {
		if !s.work.spendParse(len(pattern)) {
			return nil, 0
		}
		re, size, err := compilePattern(pattern, MaxProgram)
		if err != nil || !s.work.Spend(size) {
			return nil, 0
		}
		s.pattern, s.compiled, s.program = pattern, re, size
	}
	return s.compiled, s.program
}
