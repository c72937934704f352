package command

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// alteration describes a command's change of the values of one type at a path.
type alteration struct {
	event    string // of the change
	kinds    []jsondoc.Kind
	expected string // names the type, for the error
	// check looks at all values that will be altered, before any of them is; nil, or the
	// error that stops the command.
	check func(t *jsondoc.Tree, found []*jsondoc.Match) *reply.Value
	// alter changes one value and returns the answer for it.
	alter func(t *jsondoc.Tree, m *jsondoc.Match) reply.Value
}

// fits reports whether the alteration is for values like v.
func (a *alteration) fits(v jsondoc.Value) bool {
	for _, k := range a.kinds {
		if v.Kind() == k {
			return true
		}
	}
	return false
}

// alter does c to the document under key: to all values at the path. A JSONPath is
// answered by an array with null where the type doesn't fit, a legacy path by the last
// answer.
func (tx *Tx) alter(key []byte, p *jsondoc.Path, c alteration) reply.Value {
	answers, last, refusal := tx.alterEach(key, p, c)
	switch {
	case refusal != nil:
		return *refusal
	case p.Legacy:
		return last
	}
	return reply.Array(answers...)
}

// alterEach is alter with the answers for all matches, null where the type doesn't fit, and with the last one that is
// none of these. A legacy path has one.
func (tx *Tx) alterEach(key []byte, p *jsondoc.Path, c alteration) (all []reply.Value, last reply.Value, refusal *reply.Value) {
	o, found, refusal := tx.findValues(key, p)
	if refusal != nil {
		return nil, last, refusal
	}
	fitting := make([]*jsondoc.Match, 0, len(found))
	for _, m := range found {
		if c.fits(m.Value) {
			fitting = append(fitting, m)
		}
	}
	if len(fitting) == 0 && p.Legacy {
		if len(found) == 0 {
			return nil, last, ptr(errNoPath(p))
		}
		return nil, last, ptr(errKind(c.expected, found[0].Value))
	}
	if c.check != nil && len(fitting) > 0 {
		if refusal := c.check(&o.Data().(*keyspace.Document).Tree, fitting); refusal != nil {
			return nil, last, refusal
		}
	}
	answers := tx.alterFitting(key, o, fitting, &c)
	if len(answers) > 0 {
		last = answers[len(answers)-1]
	}
	if len(fitting) == len(found) {
		return answers, last, nil
	}
	all = make([]reply.Value, len(found))
	for i, m := range found {
		if len(fitting) > 0 && m == fitting[0] {
			all[i], fitting, answers = answers[0], fitting[1:], answers[1:]
		}
	}
	return all, last, nil
}

// findValues returns the matches of the path in the document under key, which must exist.
func (tx *Tx) findValues(key []byte, p *jsondoc.Path) (*keyspace.Object, []*jsondoc.Match, *reply.Value) {
	o, d, bad := tx.findDocument(key)
	switch {
	case bad != nil:
		return nil, nil, bad
	case d == nil:
		return nil, nil, &errMissingKey
	}
	found, err := jsondoc.FindToChange(d.Root(), p, tx.jsonWork())
	if err != nil {
		return nil, nil, ptr(jsonError(err))
	}
	return o, found, nil
}

// alterFitting alters the values at the matches in their order: inner ones first.
func (tx *Tx) alterFitting(key []byte, o *keyspace.Object, found []*jsondoc.Match, c *alteration) []reply.Value {
	answers := make([]reply.Value, len(found))
	if len(found) == 0 {
		return answers
	}
	tx.changeDocument(key, o, c.event, func(t *jsondoc.Tree) {
		t.Own(found)
		for i, m := range found {
			answers[i] = c.alter(t, m)
		}
	})
	return answers
}
