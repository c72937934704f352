package jsondoc

import "regexp"

// Match is a place in a document that a path has found.
type Match struct {
	// Value is the value that was found there.
	Value Value

	parent *Match
	key    string // in an object
	index  int    // in an array; noIndex in an object
	depth  int    // containers around the place

	// While a deep step is under way: the containers in this one, where the next of them
	// is looked for, and the step that has been here.
	kids []*Match
	next int
	seen int

	found bool      // the place is one of those found
	owned container // the container at this place, once it may be changed
}

// noIndex is the index of a member.
const noIndex = -1

// Depth is the number of containers around the place.
func (m *Match) Depth() int { return m.depth }

// IsRoot reports whether the match is the whole document.
func (m *Match) IsRoot() bool { return m.parent == nil }

// search is one evaluation of a path.
type search struct {
	root    Value
	work    *Work
	keep    bool // more than one deep step: places may be met again, and keep their kids
	step    int
	results []*Match
	*memo
}

// memo keeps the results that the conditions of one evaluation share.
type memo struct {
	absolute map[*Path]Value // what paths from the root have found
	pattern  string          // the last regular expression that came from the document
	compiled *regexp.Regexp  // nil if it is none or too large
	program  int             // its size
}

func newSearch(root Value, w *Work) *search {
	return &search{root: root, work: w, memo: &memo{absolute: map[*Path]Value{}}}
}

// Find is every place in the document root that the path leads to, each once. Of places
// that stand in one another the inner ones come first: a deep step takes what is found in
// the children of a value before what is found in the value itself, whatever the order
// of its members. ErrWork says that the work does not suffice.
func Find(root Value, p *Path, w *Work) ([]*Match, error) {
	s := newSearch(root, w)
	found := s.run(&Match{Value: root, index: noIndex}, p)
	return found, w.Err()
}

// FindToChange is Find for a command that will change what it finds, which costs as much
// again as the way up from each match.
func FindToChange(root Value, p *Path, w *Work) ([]*Match, error) {
	found, _ := Find(root, p, w)
	for _, m := range found {
		w.Spend(m.depth)
	}
	return found, w.Err()
}

// First is the first value that the path leads to, nil if there is none.
func First(root Value, p *Path, w *Work) (Value, error) {
	s := newSearch(root, w)
	if p.Single() {
		v := s.follow(root, p)
		return v, w.Err()
	}
	found := s.run(&Match{Value: root, index: noIndex}, p)
	if err := w.Err(); err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0].Value, nil
}

// follow returns the value at a Single path from v, nil if there is none.
func (s *search) follow(v Value, p *Path) Value {
	for _, st := range p.steps {
		if !s.work.Spend(1) {
			return nil
		}
		switch sel := st.selectors[0].(type) {
		case named:
			o, ok := v.(*Object)
			if !ok {
				return nil
			}
			if v, ok = o.Get(string(sel)); !ok {
				return nil
			}
		case indexed:
			a, ok := v.(*Array)
			if !ok {
				return nil
			}
			i, ok := place(int(sel), a.Len())
			if !ok {
				return nil
			}
			v = a.At(i)
		}
	}
	return v
}

// place is the position that an index means in an array of n elements.
func place(i, n int) (at int, ok bool) {
	if i < 0 {
		i += n
	}
	return i, 0 <= i && i < n
}

// run takes the steps of p from a place.
func (s *search) run(from *Match, p *Path) []*Match {
	s.keep = p.deeps() > 1
	at := []*Match{from}
	for i := range p.steps {
		s.step, s.results = i+1, nil
		for _, m := range at {
			if p.steps[i].deep {
				s.descend(m, p.steps[i].selectors)
			} else {
				s.choose(m, p.steps[i].selectors)
			}
		}
		at = s.results
	}
	return at
}

// descend applies the selectors to all containers in m, and to m last.
func (s *search) descend(m *Match, selectors []selector) {
	if m.seen == s.step || !isContainer(m.Value) || !s.work.Spend(1) {
		return
	}
	m.seen = s.step
	if m.kids == nil {
		s.expand(m)
	}
	for _, kid := range m.kids {
		s.descend(kid, selectors)
	}
	s.choose(m, selectors)
	if !s.keep {
		m.kids = nil
	}
}

// expand finds the containers in m.
func (s *search) expand(m *Match) {
	s.each(m.Value, func(key string, i int, v Value) bool {
		if isContainer(v) {
			m.kids = append(m.kids, m.child(key, i, v))
		}
		return true
	})
}

// each calls f for every child of v, in order, until it returns false.
func (s *search) each(v Value, f func(key string, i int, v Value) bool) {
	switch v := v.(type) {
	case *Array:
		v.All(func(i int, e Value) bool { return s.work.Spend(1) && f("", i, e) })
	case *Object:
		v.All(func(key string, e Value) bool { return s.work.Spend(1) && f(key, noIndex, e) })
	}
}

func (m *Match) child(key string, i int, v Value) *Match {
	return &Match{Value: v, parent: m, key: key, index: i, depth: m.depth + 1}
}

// kid is the child of m at that key or index: the one that a deep step has made already,
// so that there is one Match for one place.
func (s *search) kid(m *Match, key string, i int, v Value) *Match {
	if isContainer(v) {
		for range m.kids {
			if m.next++; m.next >= len(m.kids) {
				m.next = 0
			}
			if k := m.kids[m.next]; k.key == key && k.index == i {
				return k
			}
			if !s.work.Spend(1) {
				break
			}
		}
	}
	return m.child(key, i, v)
}

// choose adds the children of m that the selectors name, each once.
func (s *search) choose(m *Match, selectors []selector) {
	if len(selectors) == 1 {
		s.apply(m, selectors[0], s.add)
		return
	}
	keys, indexes := map[string]bool{}, map[int]bool{}
	for _, sel := range selectors {
		s.apply(m, sel, func(m *Match, key string, i int, v Value) {
			if i != noIndex && !indexes[i] {
				indexes[i] = true
				s.add(m, key, i, v)
			}
			if i == noIndex && !keys[key] {
				keys[key] = true
				s.add(m, key, i, v)
			}
		})
	}
}

func (s *search) add(m *Match, key string, i int, v Value) {
	s.results = append(s.results, s.kid(m, key, i, v))
}

// apply calls f for the children of m that a selector names.
func (s *search) apply(m *Match, sel selector, f func(m *Match, key string, i int, v Value)) {
	if !s.work.Spend(1) {
		return
	}
	switch sel := sel.(type) {
	case named:
		if o, ok := m.Value.(*Object); ok {
			if v, ok := o.Get(string(sel)); ok {
				f(m, string(sel), noIndex, v)
			}
		}
	case indexed:
		if a, ok := m.Value.(*Array); ok {
			if i, ok := place(int(sel), a.Len()); ok {
				f(m, "", i, a.At(i))
			}
		}
	case every:
		s.each(m.Value, func(key string, i int, v Value) bool { f(m, key, i, v); return true })
	case sliced:
		if a, ok := m.Value.(*Array); ok {
			s.slice(m, a, sel, f)
		}
	case filtered:
		s.each(m.Value, func(key string, i int, v Value) bool {
			if sel.holds(s, v) {
				f(m, key, i, v)
			}
			return true
		})
	}
}

// slice calls f for the elements of a slice.
func (s *search) slice(m *Match, a *Array, sel sliced, f func(m *Match, key string, i int, v Value)) {
	i, end := sel.bounds(a.Len())
	for ; sel.step > 0 && i < end || sel.step < 0 && i > end; i += sel.step {
		if !s.work.Spend(1) {
			return
		}
		f(m, "", i, a.At(i))
	}
}

// bounds are the first position of a slice of n elements and the one behind its last, in
// the direction of its step.
func (s sliced) bounds(n int) (from, to int) {
	if s.step < 0 {
		from, to = n-1, -1
		if s.hasStart {
			from = min(max(absolute(s.start, n), -1), n-1)
		}
		if s.hasEnd {
			to = min(max(absolute(s.end, n), -1), n-1)
		}
		return from, to
	}
	from, to = 0, n
	if s.hasStart {
		from = min(max(absolute(s.start, n), 0), n)
	}
	if s.hasEnd {
		to = min(max(absolute(s.end, n), 0), n)
	}
	return from, to
}

// absolute is a position counted from the start.
func absolute(i, n int) int {
	if i < 0 {
		return i + n
	}
	return i
}
