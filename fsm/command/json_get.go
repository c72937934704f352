package command

import (
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// jsonType asks for the name of the type. In RESP3 the whole answer, null included, is in an array of one.
func jsonType(tx *Tx, a *Args) reply.Value {
	v := askType(tx, a)
	if v.IsError() {
		return v
	}
	return reply.Forms(v, reply.Array(v))
}

var askType = askRow(question{nullable: true, ask: func(v jsondoc.Value, _ *jsondoc.Work) (reply.Value, bool) {
	return reply.Bulk(v.Kind().String()), true
}})

// namedPath is a path with its text as it was given.
type namedPath struct {
	text string
	path *jsondoc.Path
}

func jsonGet(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	var format jsondoc.Format
	var paths []namedPath
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("INDENT"):
			format.Indent = a.String()
		case a.Word("NEWLINE"):
			format.Newline = a.String()
		case a.Word("SPACE"):
			format.Space = a.String()
		case a.Word("NOESCAPE"): // older clients send it; nothing is escaped anyway
		default:
			text := string(a.argv[a.at])
			paths = append(paths, namedPath{text, a.path()})
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	_, d, bad := tx.findDocument(key)
	switch {
	case bad != nil:
		return *bad
	case d == nil:
		return reply.Nil()
	}
	v, refusal := showPaths(d.Root(), paths, tx.jsonWork())
	if refusal != nil {
		return *refusal
	}
	return textOf(format, v)
}

func textOf(format jsondoc.Format, v jsondoc.Value) reply.Value {
	text, err := format.Text(v)
	if err != nil {
		return jsonError(err)
	}
	return reply.Bulk(text)
}

// showPaths returns the reply of JSON.GET: the matches of one path, or those of all paths by path.
func showPaths(root jsondoc.Value, paths []namedPath, w *jsondoc.Work) (jsondoc.Value, *reply.Value) {
	if len(paths) == 0 {
		return root, nil
	}
	legacy := true
	for _, p := range paths {
		legacy = legacy && p.path.Legacy
	}
	members := make([]jsondoc.Member, len(paths))
	for i, p := range paths {
		v, refusal := at(root, p.path, legacy, w)
		if refusal != nil {
			return nil, refusal
		}
		members[i] = jsondoc.Member{Key: p.text, Value: v}
	}
	if len(members) == 1 {
		return members[0].Value, nil
	}
	return jsondoc.ObjectOf(members...), nil
}

// at returns the matches of a path: the first value if the path is read as a legacy one, else an array.
func at(root jsondoc.Value, p *jsondoc.Path, legacy bool, w *jsondoc.Work) (jsondoc.Value, *reply.Value) {
	if legacy {
		v, err := jsondoc.First(root, p, w)
		switch {
		case err != nil:
			return nil, ptr(jsonError(err))
		case v == nil:
			return nil, ptr(errNoPath(p))
		}
		return v, nil
	}
	found, err := jsondoc.Find(root, p, w)
	if err != nil {
		return nil, ptr(jsonError(err))
	}
	values := make([]jsondoc.Value, len(found))
	for i, m := range found {
		values[i] = m.Value
	}
	return jsondoc.NewArray(values...), nil
}
