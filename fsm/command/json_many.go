package command

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func jsonMGet(tx *Tx, a *Args) reply.Value {
	keys := a.Take(a.Left() - 1)
	p := a.path()
	if err, ok := a.Done(); !ok {
		return err
	}
	w, size := tx.jsonWork(), 0
	texts := make([]reply.Value, len(keys))
	for i, key := range keys {
		_, d, _ := tx.findDocument(key)
		if d == nil {
			continue
		}
		v, refusal := at(d.Root(), p, p.Legacy, w)
		if w.Err() != nil {
			return jsonError(w.Err())
		}
		if refusal != nil {
			continue
		}
		texts[i] = textOf(jsondoc.Format{}, v)
		if size += len(texts[i].Text()); texts[i].IsError() || size > jsondoc.MaxText {
			return jsonError(jsondoc.ErrTooLong)
		}
	}
	return reply.Array(texts...)
}

// draft is a document as JSON.MSET would leave it.
type draft struct {
	key    []byte
	expire keyspace.Deadline
	tree   *jsondoc.Tree // nil as long as there is none
}

// jsonMSet works on drafts, each of which sees the triples before, and stores them when
// all triples are known to be good.
func jsonMSet(tx *Tx, a *Args) reply.Value {
	if a.Left()%3 != 0 {
		return ErrArity("json.mset")
	}
	var drafts []*draft
	known, w := map[string]*draft{}, tx.jsonWork()
	for a.Left() > 0 {
		key, p, v := a.Bytes(), a.path(), a.json()
		if a.bad {
			return a.err
		}
		d := known[string(key)]
		if d == nil {
			var bad *reply.Value
			if d, bad = tx.newDraft(key); bad != nil {
				return *bad
			}
			known[string(key)] = d
			drafts = append(drafts, d)
		}
		if refusal := d.set(p, v, w); refusal != nil {
			return *refusal
		}
	}
	for _, d := range drafts {
		tx.DB.PutContainer(tx.Env, d.key, &keyspace.Document{Tree: *d.tree}, d.expire)
		tx.Event(ModuleEvent, "json.mset", d.key)
	}
	return reply.OK()
}

// newDraft is the document under key as it is.
func (tx *Tx) newDraft(key []byte) (*draft, *reply.Value) {
	o, d, bad := tx.findDocument(key)
	if d == nil {
		return &draft{key: key}, bad
	}
	t := d.Tree.Clone()
	return &draft{key: key, expire: o.Expire, tree: &t}, nil
}

// set puts v at the path, or returns the error that stops the command.
func (d *draft) set(p *jsondoc.Path, v jsondoc.Value, w *jsondoc.Work) *reply.Value {
	switch {
	case d.tree == nil && !p.IsRoot():
		return &errNewAtRoot
	case d.tree == nil:
		t := jsondoc.NewTree(v)
		d.tree = &t
		return nil
	}
	places, refusal := placesFor(d.tree, p, v, always, w)
	switch {
	case refusal != nil:
		return refusal
	case places.none():
		return ptr(errNoPath(p))
	}
	places.set(d.tree, v)
	return nil
}
