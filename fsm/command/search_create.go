package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// searchName is the refusal of a name or path that an index can't have.
func searchName(name string) *reply.Value {
	switch {
	case name == "":
		return ptr(reply.Error("ERR names of search indexes, aliases and fields must not be empty"))
	case len(name) > search.MaxName:
		return ptr(reply.Error(fmt.Sprintf("ERR names of search indexes, aliases and fields have at most %d bytes, got %d", search.MaxName, len(name))))
	case !utf8.ValidString(name): // runes: indexes hold text
		return ptr(reply.Error("ERR names of search indexes, aliases and fields must be UTF-8"))
	}
	return nil
}

// searchCreate defines an index.
func searchCreate(tx *Tx, a *Args) reply.Value {
	d := search.Definition{Name: a.String(), Language: "english"}
	if refusal := searchName(d.Name); refusal != nil {
		a.Fail(*refusal)
	}
	existsOK, on := false, false
	for !a.bad && !a.Word("SCHEMA") {
		switch {
		case a.Word("EXISTSOK"):
			existsOK = true
		case a.Word("SKIPINITIALSCAN"):
			d.SkipScan = true
		case a.Word("LANGUAGE"):
			d.Language = ascii.Lower(a.String())
			if !slices.Contains(search.Languages, d.Language) {
				a.Fail(reply.Error("ERR LANGUAGE must be one of " + strings.Join(search.Languages, ", ")))
			}
		case !on && a.Word("ON"):
			on = true
			a.searchSource(&d)
		default:
			a.Fail(ErrSyntax)
		}
	}
	if !on {
		a.Fail(ErrSyntax)
	}
	a.searchSchema(&d)
	if err, ok := a.Done(); !ok {
		return err
	}
	if old := tx.definitions().Get(d.Name); old != nil {
		switch {
		case !existsOK:
			return errIndexExists(d.Name)
		case !old.Same(&d):
			return reply.Error("ERR Index " + clean(d.Name) + " already exists with a different definition")
		}
		return reply.Int(0)
	}
	if refusal := tx.mayRead(a, &d); refusal != nil {
		return *refusal
	}
	if tx.DB.Peek(tx.Env, []byte(d.Name)) != nil {
		return reply.Error("ERR the name " + clean(d.Name) + " is that of a key")
	}
	if tx.definitions().Len() >= search.MaxIndexes {
		return reply.Error(fmt.Sprintf("ERR a database has at most %d search indexes", search.MaxIndexes))
	}
	if d.Source == search.Stream {
		for _, other := range tx.definitions().All() {
			if other.Source == search.Stream && other.Prefixes[0] == d.Prefixes[0] {
				return reply.Error("ERR the stream " + clean(d.Prefixes[0]) + " has the index " + clean(other.Name) + " already")
			}
		}
	}
	d.Since = tx.DB.Changes()
	tx.definitions().Put(d)
	tx.changedIndexes()
	return reply.Int(1)
}

// searchSource reads what follows ON.
func (a *Args) searchSource(d *search.Definition) {
	var ok bool
	if d.Source, ok = search.ParseSource(ascii.Upper(a.String())); !ok {
		a.Fail(reply.Error("ERR ON must be followed by JSON, HASH, STRING or STREAM"))
		return
	}
	if d.Source == search.Stream {
		d.Prefixes = []string{a.String()}
		return
	}
	if !a.Word("PREFIX") {
		a.Fail(ErrSyntax)
		return
	}
	n := a.Int()
	if !a.bad && (n < 1 || n > search.MaxPrefixes) {
		a.Fail(reply.Error(fmt.Sprintf("ERR PREFIX must be followed by 1 to %d prefixes", search.MaxPrefixes)))
	}
	for range n {
		if a.bad {
			return
		}
		p := a.String()
		if len(p) > search.MaxName {
			a.Fail(reply.Error(fmt.Sprintf("ERR a prefix has at most %d bytes, got %d", search.MaxName, len(p))))
		}
		for _, other := range d.Prefixes {
			if strings.HasPrefix(p, other) || strings.HasPrefix(other, p) {
				a.Fail(reply.Error("ERR the prefixes '" + clean(other) + "' and '" + clean(p) + "' overlap"))
			}
		}
		d.Prefixes = append(d.Prefixes, p)
	}
}

// searchSchema reads the fields up to the end.
func (a *Args) searchSchema(d *search.Definition) {
	for a.Left() > 0 && !a.bad {
		f := search.Field{Name: a.String()}
		if refusal := searchName(f.Name); refusal != nil {
			a.Fail(*refusal)
		}
		name := a.String()
		var ok bool
		if f.Type, ok = search.ParseFieldType(ascii.Upper(name)); !ok {
			a.Fail(reply.Error("ERR Field '" + clean(f.Name) + "' has the unknown type '" + clean(name) + "': expected TEXT, KEYWORD, U64, I64, F64, DATE, BOOL or FACET"))
		}
		a.searchOptions(&f)
		switch {
		case d.Field(f.Name) != nil:
			a.Fail(reply.Error("ERR Field '" + clean(f.Name) + "' is defined twice"))
		case strings.HasPrefix(f.Name, "$"):
			a.Fail(reply.Error("ERR Field names must not begin with '$': '" + clean(f.Name) + "'"))
		}
		if d.Schema = append(d.Schema, f); len(d.Schema) > search.MaxFields {
			a.Fail(reply.Error(fmt.Sprintf("ERR an index has at most %d fields", search.MaxFields)))
		}
	}
	if len(d.Schema) == 0 {
		a.Fail(ErrSyntax)
	}
}

// searchOptions reads the options that a field of its type can have; any other word begins the next field.
func (a *Args) searchOptions(f *search.Field) {
	for !a.bad {
		switch {
		case f.Type != search.Text && f.Type != search.Facet && a.Word("FAST"):
			f.Fast = f.Type != search.Keyword // which is so without saying
		case f.Type == search.Text && a.Word("NOTOKENIZE"):
			f.NoTokenize = true
		case f.Type == search.Text && a.Word("NOSTEM"):
			f.NoStem = true
		case f.From == "" && a.Word("FROM"):
			f.From = a.String()
			if refusal := searchName(f.From); refusal != nil {
				a.Fail(*refusal)
			}
		default:
			return
		}
	}
}

func searchDescribe(tx *Tx, a *Args) reply.Value {
	name := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	d, refusal := tx.findSearch(a, name)
	switch {
	case refusal != nil:
		return *refusal
	case d == nil:
		return reply.Nil()
	}
	var prefixes, schema []reply.Value
	for _, p := range d.Prefixes {
		prefixes = append(prefixes, reply.Bulk(p))
	}
	for i := range d.Schema {
		f := &d.Schema[i]
		row := []reply.Value{reply.Bulk(f.Name), reply.Bulk(f.Type.String())}
		for _, o := range []struct {
			on   bool
			word string
		}{{f.Fast, "FAST"}, {f.NoTokenize, "NOTOKENIZE"}, {f.NoStem, "NOSTEM"}} {
			if o.on {
				row = append(row, reply.Bulk(o.word))
			}
		}
		if f.From != "" {
			row = append(row, reply.Bulk("FROM"), reply.Bulk(f.From))
		}
		schema = append(schema, reply.Array(row...))
	}
	s := tx.Search.Index.Status(tx.searchPoint(), d)
	stemmed, state, why := "yes", "ready", ""
	switch {
	case s.Suspended != nil:
		state, why = "suspended", s.Suspended.Error()
	case s.Pending > 0:
		state = "building"
	}
	if s.Unstemmed {
		stemmed = "no"
	}
	return reply.Map(
		reply.Bulk("name"), reply.Bulk(d.Name),
		reply.Bulk("type"), reply.Bulk(d.Source.String()),
		reply.Bulk("prefixes"), reply.Array(prefixes...),
		reply.Bulk("language"), reply.Bulk(d.Language),
		reply.Bulk("state"), reply.Bulk(state),
		reply.Bulk("suspended"), reply.Bulk(why),
		reply.Bulk("indexSize"), reply.Int(s.Bytes),
		reply.Bulk("pendingUpdates"), reply.Int(s.Pending),
		reply.Bulk("documents"), reply.Int(s.Documents),
		reply.Bulk("documentsLeftOut"), reply.Int(s.LeftOut),
		reply.Bulk("stemmed"), reply.Bulk(stemmed),
		reply.Bulk("schema"), reply.Array(schema...),
	)
}

func searchListIndexes(tx *Tx, a *Args) reply.Value {
	pattern, limit, offset := "*", int64(0), int64(0)
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("MATCH"):
			pattern = a.Pattern()
		case a.Word("LIMIT"):
			limit = a.Int()
		case a.Word("OFFSET"):
			offset = a.Int()
		default:
			a.Fail(ErrSyntax)
		}
	}
	if limit < 0 || offset < 0 {
		a.Fail(reply.Error("ERR LIMIT and OFFSET must not be negative"))
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	list := []reply.Value{}
	for _, d := range tx.definitions().All() {
		switch {
		case !tx.matches(pattern, d.Name):
		case offset > 0:
			offset--
		case limit == 0 || int64(len(list)) < limit:
			list = append(list, reply.Map(reply.Bulk("name"), reply.Bulk(d.Name), reply.Bulk("type"), reply.Bulk(d.Source.String())))
		}
	}
	return reply.Array(list...)
}
