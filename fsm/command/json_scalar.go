package command

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// jsonStrLen asks for the length in bytes.
var jsonStrLen = askRow(question{expected: "string", ask: func(v jsondoc.Value, _ *jsondoc.Work) (reply.Value, bool) {
	s, ok := v.(jsondoc.String)
	return reply.Int(int64(len(s))), ok
}})

func jsonStrAppend(tx *Tx, a *Args) reply.Value {
	key, p := a.Bytes(), jsondoc.Root()
	if a.Left() > 1 {
		p = a.path()
	}
	v := a.json()
	suffix, ok := v.(jsondoc.String)
	if !ok {
		a.Fail(errKind("string", v))
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	return tx.alter(key, p, alteration{
		event: "json.strappend", kinds: []jsondoc.Kind{jsondoc.KindString}, expected: "string",
		check: func(t *jsondoc.Tree, found []*jsondoc.Match) *reply.Value { return roomFor(t, found, 0, suffix) },
		alter: func(t *jsondoc.Tree, m *jsondoc.Match) reply.Value {
			longer := m.Value.(jsondoc.String) + suffix
			t.Replace(m, longer)
			return reply.Int(int64(len(longer)))
		},
	})
}

func jsonToggle(tx *Tx, a *Args) reply.Value {
	key, p := a.Bytes(), a.path()
	if err, ok := a.Done(); !ok {
		return err
	}
	return tx.alter(key, p, alteration{
		event: "json.toggle", kinds: []jsondoc.Kind{jsondoc.KindBool}, expected: "boolean",
		alter: func(t *jsondoc.Tree, m *jsondoc.Match) reply.Value {
			v := !m.Value.(jsondoc.Bool)
			t.Replace(m, v)
			if v {
				return reply.Int(1)
			}
			return reply.Int(0)
		},
	})
}

func jsonNumIncrBy(tx *Tx, a *Args) reply.Value {
	return numberBy(tx, a, jsondoc.Add, "json.numincrby")
}

func jsonNumMultBy(tx *Tx, a *Args) reply.Value {
	return numberBy(tx, a, jsondoc.Multiply, "json.nummultby")
}

func jsonNumPowBy(tx *Tx, a *Args) reply.Value {
	return numberBy(tx, a, jsondoc.Power, "json.numpowby")
}

// numberBy applies op to the numbers at a path and the one given. All results are known
// before any is stored, so that one without a finite result changes nothing.
func numberBy(tx *Tx, a *Args, op jsondoc.Operation, event string) reply.Value {
	key, p, by := a.Bytes(), a.path(), a.json()
	if k := by.Kind(); k != jsondoc.KindInteger && k != jsondoc.KindNumber {
		a.Fail(errKind("number", by))
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	var results []jsondoc.Value
	answers, refusal := tx.alterEach(key, p, alteration{
		event: event, kinds: []jsondoc.Kind{jsondoc.KindInteger, jsondoc.KindNumber}, expected: "number",
		check: func(_ *jsondoc.Tree, found []*jsondoc.Match) *reply.Value {
			for _, m := range found {
				v, ok := op(m.Value, by)
				if !ok {
					return &errNotANumber
				}
				results = append(results, v)
			}
			return nil
		},
		alter: func(t *jsondoc.Tree, m *jsondoc.Match) reply.Value {
			v := results[0]
			results = results[1:]
			t.Replace(m, v)
			return textOf(jsondoc.Format{}, v)
		},
	})
	switch {
	case refusal != nil:
		return *refusal
	case p.Legacy:
		return answers[len(answers)-1]
	}
	return reply.Bulk(arrayText(answers))
}

// arrayText is JSON texts, of which nil ones stand for null, as the text of an array.
func arrayText(texts []reply.Value) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, t := range texts {
		if i > 0 {
			b.WriteByte(',')
		}
		if t.IsNil() {
			b.WriteString("null")
		} else {
			b.WriteString(t.Text())
		}
	}
	b.WriteByte(']')
	return b.String()
}
