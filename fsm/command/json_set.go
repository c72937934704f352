package command

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func jsonSet(tx *Tx, a *Args) reply.Value {
	key, p, v := a.Bytes(), a.path(), a.json()
	cond := always
	switch {
	case a.Word("NX"):
		cond = ifMissing
	case a.Word("XX"):
		cond = ifExists
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	o, d, bad := tx.findDocument(key)
	switch {
	case bad != nil:
		return *bad
	case d == nil && cond == ifExists:
		return reply.Nil()
	case d == nil && !p.IsRoot():
		return errNewAtRoot
	case d == nil:
		tx.newDocument(key, v, "json.set")
		return reply.OK()
	}
	places, refusal := placesFor(&d.Tree, p, v, cond, tx.jsonWork())
	switch {
	case refusal != nil:
		return *refusal
	case places.prevented || places.none() && !tx.dialect().reportsLostPath:
		return reply.Nil()
	case places.none():
		return errNoPath(p)
	}
	tx.changeDocument(key, o, "json.set", func(t *jsondoc.Tree) { places.set(t, v) })
	return reply.OK()
}

// places are the targets of a write: the matches of a path, or a member that is to be
// added to an object.
type places struct {
	found     []*jsondoc.Match
	object    *jsondoc.Match
	key       string
	prevented bool // the condition does not hold
}

func (p *places) none() bool { return len(p.found) == 0 && p.object == nil }

// set puts v there.
func (p *places) set(t *jsondoc.Tree, v jsondoc.Value) {
	for _, m := range p.found {
		t.Replace(m, v)
	}
	if p.object != nil {
		t.SetMember(p.object, p.key, v)
	}
}

// placesFor finds where the path wants v under the condition; none if the condition does
// not hold, or if the parent of what is new is missing. A document that would become too deep
// or too large is refused, and so is a path that finds nothing and could find many.
func placesFor(t *jsondoc.Tree, p *jsondoc.Path, v jsondoc.Value, cond condition, w *jsondoc.Work) (*places, *reply.Value) {
	found, err := jsondoc.FindToChange(t.Root(), p, w)
	switch {
	case err != nil:
		return nil, ptr(jsonError(err))
	case len(found) > 0 && cond == ifMissing, len(found) == 0 && cond == ifExists:
		return &places{prevented: true}, nil
	case len(found) > 0:
		return &places{found: found}, roomFor(t, found, 0, v)
	case !p.Single():
		return nil, &errStaticPath
	}
	parent, key, named := p.Parent()
	above, err := jsondoc.Find(t.Root(), parent, w)
	switch {
	case err != nil:
		return nil, ptr(jsonError(err))
	case len(above) == 0:
		return &places{}, nil
	case !named && above[0].Value.Kind() == jsondoc.KindArray:
		return nil, &errArrayRange
	case !named || above[0].Value.Kind() != jsondoc.KindObject:
		return &places{}, nil
	}
	return &places{object: above[0], key: key}, roomFor(t, above, 1, v)
}

// roomFor reports whether values may stand at the matches, or in so many containers more:
// nil, or the error.
func roomFor(t *jsondoc.Tree, found []*jsondoc.Match, inner int, values ...jsondoc.Value) *reply.Value {
	size, depth := int64(0), 0
	for _, v := range values {
		size += v.Size()
		depth = max(depth, jsondoc.Depth(v))
	}
	if t.Size()+int64(len(found))*size > jsondoc.MaxText {
		return ptr(jsonError(jsondoc.ErrTooLong))
	}
	for _, m := range found {
		if m.Depth()+inner+depth > jsondoc.MaxDepth {
			return ptr(jsonError(jsondoc.ErrDepth))
		}
	}
	return nil
}

func jsonDel(tx *Tx, a *Args) reply.Value {
	key, p := a.Bytes(), a.path()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, d, bad := tx.findDocument(key)
	switch {
	case bad != nil:
		return *bad
	case d == nil:
		return reply.Int(0)
	}
	found, err := jsondoc.FindToChange(d.Root(), p, tx.jsonWork())
	if err != nil {
		return jsonError(err)
	}
	found = jsondoc.Outermost(found)
	tx.removeValues(key, o, found, "json.del")
	return reply.Int(int64(len(found)))
}

// removeValues deletes the values at the matches, none of which is inside another, and
// tells the event: the root with its key.
func (tx *Tx) removeValues(key []byte, o *keyspace.Object, found []*jsondoc.Match, event string) {
	switch {
	case len(found) == 0:
	case found[0].IsRoot():
		tx.DB.Remove(tx.Env, key)
		tx.Event(ModuleEvent, event, key)
	default:
		tx.changeDocument(key, o, event, func(t *jsondoc.Tree) { t.Remove(found) })
	}
}
