package command

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func jsonMerge(tx *Tx, a *Args) reply.Value {
	key, p, patch := a.Bytes(), a.path(), a.json()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, d, bad := tx.findDocument(key)
	switch {
	case bad != nil:
		return *bad
	case d == nil && !p.IsRoot():
		return errNewAtRoot
	case d == nil && patch.Kind() == jsondoc.KindNull:
		return reply.OK()
	case d == nil:
		tx.newDocument(key, jsondoc.WithoutNulls(patch), "json.merge")
		return reply.OK()
	}
	places, refusal := placesFor(&d.Tree, p, patch, always, tx.jsonWork())
	switch {
	case refusal != nil:
		return *refusal
	case places.none() && tx.dialect().reportsLostPath:
		return errNoPath(p)
	case places.none():
		return reply.Nil()
	case patch.Kind() == jsondoc.KindNull:
		tx.removeValues(key, o, jsondoc.Outermost(places.found), "json.merge")
		return reply.OK()
	}
	tx.changeDocument(key, o, "json.merge", func(t *jsondoc.Tree) { places.merge(t, patch) })
	return reply.OK()
}

// merge applies a patch there.
func (p *places) merge(t *jsondoc.Tree, patch jsondoc.Value) {
	for _, m := range p.found {
		t.Merge(m, patch)
	}
	if p.object != nil {
		t.SetMember(p.object, p.key, jsondoc.WithoutNulls(patch))
	}
}

// jsonClear leaves alone what is clear already, and what is inside another value that it
// clears.
func jsonClear(tx *Tx, a *Args) reply.Value {
	key, p := a.Bytes(), a.path()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, found, refusal := tx.findValues(key, p)
	if refusal != nil {
		return *refusal
	}
	full := make([]*jsondoc.Match, 0, len(found))
	for _, m := range found {
		if cleared(m.Value) != nil {
			full = append(full, m)
		}
	}
	if full = jsondoc.Outermost(full); len(full) > 0 {
		tx.changeDocument(key, o, "json.clear", func(t *jsondoc.Tree) {
			for _, m := range full {
				t.Replace(m, cleared(m.Value))
			}
		})
	}
	return reply.Int(int64(len(full)))
}

// cleared returns the value that JSON.CLEAR puts in place of v, nil if it leaves v alone.
func cleared(v jsondoc.Value) jsondoc.Value {
	switch v := v.(type) {
	case *jsondoc.Array:
		if v.Len() > 0 {
			return jsondoc.NewArray()
		}
	case *jsondoc.Object:
		if v.Len() > 0 {
			return jsondoc.NewObject()
		}
	case jsondoc.Int, jsondoc.Uint, jsondoc.Double:
		if v != jsondoc.Int(0) && v != jsondoc.Double(0) {
			return jsondoc.Int(0)
		}
	}
	return nil
}
