package command

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// The errors of the JSON family, in RedisJSON's words.
var (
	errNoDocument  = reply.Error("ERR Existing key has wrong Redis type")
	errMissingKey  = reply.Error("ERR could not perform this operation on a key that doesn't exist")
	errNewAtRoot   = reply.Error("ERR new objects must be created at the root")
	errStaticPath  = reply.Error("ERR wrong static path")
	errArrayRange  = reply.Error("ERR array index out of range")
	errArrayBounds = reply.Error("ERR index out of bounds")
	errNotANumber  = reply.Error("ERR result is not a number")
)

// errNoPath says that a path leads nowhere.
func errNoPath(p *jsondoc.Path) reply.Value {
	return reply.Error("ERR Path '" + clean(p.Text) + "' does not exist")
}

// errKind says that a value is of another type than the command is for.
func errKind(expected string, found jsondoc.Value) reply.Value {
	return reply.Error("WRONGTYPE wrong type of path value - expected " + expected + " but found " + found.Kind().String())
}

// jsonError is an error of a document, a text or a path as a reply.
func jsonError(err error) reply.Value { return reply.Error("ERR " + clean(err.Error())) }

// path reads a path; without a word left it is the root, as a legacy path.
//
// The regular expressions of all paths of a call together are bounded as those of one are. What it takes to read them
// counts among the work of the request.
func (a *Args) path() *jsondoc.Path {
	if a.Left() == 0 {
		return jsondoc.Root()
	}
	text := a.String()
	p, size, err := jsondoc.ParsePathWithin(text, jsondoc.MaxProgram-a.program)
	a.program += size
	a.steps += compileWork*int64(size) + int64(len(text))/pathPerWork
	if err != nil {
		a.Fail(jsonError(err))
		return jsondoc.Root()
	}
	return p
}

// json reads a word as a JSON value.
func (a *Args) json() jsondoc.Value {
	v, err := jsondoc.Parse(a.Bytes())
	if err != nil {
		a.Fail(jsonError(err))
		return jsondoc.Null{}
	}
	return v
}

// findDocument is the document under key, nil if the key is missing; bad says that it
// holds something else.
func (tx *Tx) findDocument(key []byte) (o *keyspace.Object, d *keyspace.Document, bad *reply.Value) {
	o = tx.DB.Find(tx.Env, key)
	if o == nil {
		return nil, nil, nil
	}
	d, ok := o.Data().(*keyspace.Document)
	if !ok {
		return nil, nil, &errNoDocument
	}
	return o, d, nil
}

// newDocument stores a document under key, where there was none, and tells the event.
func (tx *Tx) newDocument(key []byte, v jsondoc.Value, event string) {
	tx.DB.PutContainer(tx.Env, key, keyspace.NewDocument(v), 0)
	tx.Event(ModuleEvent, event, key)
}

// changeDocument lets f change the document of o, which is under key, and tells the event.
func (tx *Tx) changeDocument(key []byte, o *keyspace.Object, event string, f func(t *jsondoc.Tree)) {
	d := tx.DB.Mutable(tx.Env, key, o).(*keyspace.Document)
	before := d.Size()
	f(&d.Tree)
	tx.DB.Changed(tx.Env, key, before)
	tx.Event(ModuleEvent, event, key)
}

// question describes a command's query of the values at a path.
type question struct {
	// expected names the type that a value must have, for the error.
	expected string
	// nullable says that a legacy path that leads nowhere is answered by null, not by an
	// error.
	nullable bool
	// ask is the answer for a value; it is not ok if the value is of another type.
	ask func(v jsondoc.Value, w *jsondoc.Work) (answer reply.Value, ok bool)
}

// ask answers q for the document under key: an array of answers to a JSONPath, null where
// the type doesn't fit, and one answer to a legacy path.
func (tx *Tx) ask(key []byte, p *jsondoc.Path, q question) reply.Value {
	_, d, bad := tx.findDocument(key)
	switch {
	case bad != nil:
		return *bad
	case d == nil:
		return reply.Nil()
	}
	w := tx.jsonWork()
	if p.Legacy {
		return askFirst(d.Root(), p, q, w)
	}
	found, err := jsondoc.Find(d.Root(), p, w)
	if err != nil {
		return jsonError(err)
	}
	answers := make([]reply.Value, len(found))
	for i, m := range found {
		if answer, ok := q.ask(m.Value, w); ok {
			answers[i] = answer
		}
	}
	if err := w.Err(); err != nil {
		return jsonError(err)
	}
	return reply.Array(answers...)
}

func askFirst(root jsondoc.Value, p *jsondoc.Path, q question, w *jsondoc.Work) reply.Value {
	v, err := jsondoc.First(root, p, w)
	switch {
	case err != nil:
		return jsonError(err)
	case v == nil && q.nullable:
		return reply.Nil()
	case v == nil:
		return errNoPath(p)
	}
	answer, ok := q.ask(v, w)
	switch {
	case w.Err() != nil:
		return jsonError(w.Err())
	case !ok:
		return errKind(q.expected, v)
	}
	return answer
}

// askRow is the handler of a command of a key and a path that asks q.
func askRow(q question) Handler {
	return func(tx *Tx, a *Args) reply.Value {
		key, p := a.Bytes(), a.path()
		if err, ok := a.Done(); !ok {
			return err
		}
		return tx.ask(key, p, q)
	}
}
