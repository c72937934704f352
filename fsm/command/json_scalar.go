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
// before any is stored, so that one without a finite result changes nothing. The results are JSON text in RESP2, of a
// legacy path the last one alone, and in RESP3 numbers, one for each match of any path.
func numberBy(tx *Tx, a *Args, op jsondoc.Operation, event string) reply.Value {
	key, p, by := a.Bytes(), a.path(), a.json()
	if k := by.Kind(); k != jsondoc.KindInteger && k != jsondoc.KindNumber {
		a.Fail(errKind("number", by))
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	var results []jsondoc.Value
	answers, last, refusal := tx.alterEach(key, p, alteration{
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
			return reply.Forms(textOf(jsondoc.Format{}, v), numberOf(v))
		},
	})
	if refusal != nil {
		return *refusal
	}
	text := last.RESP2()
	if !p.Legacy {
		text = reply.Bulk(arrayText(answers))
	}
	return reply.Forms(text, reply.Array(answers...))
}

// numberOf is a number in RESP3.
func numberOf(v jsondoc.Value) reply.Value {
	switch v := v.(type) {
	case jsondoc.Int:
		return reply.Int(int64(v))
	case jsondoc.Uint:
		return reply.Number(float64(v))
	case jsondoc.Double:
		return reply.Number(float64(v))
	}
	return reply.Nil()
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
			b.WriteString(t.RESP2().Text())
		}
	}
	b.WriteByte(']')
	return b.String()
}
