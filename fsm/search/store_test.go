package search_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/search"
	"github.com/trireme-dev/trireme/fsm/wire"
)

func definition(name string, prefixes ...string) search.Definition {
	return search.Definition{
		Name: name, Source: search.Hash, Prefixes: prefixes, Language: "english",
		Schema: []search.Field{{Name: "title", Type: search.Text}, {Name: "price", Type: search.F64, Fast: true, From: "cost.net"}},
	}
}

func names(s *search.Store) (list []string) {
	for _, d := range s.All() {
		list = append(list, d.Name)
	}
	return list
}

// TestDefinitionsAreInOrder: whatever the order in which they come, definitions are listed by name and found by it.
func TestDefinitionsAreInOrder(t *testing.T) {
	s := search.NewStore()
	for _, name := range []string{"m", "z", "a", "k", "b"} {
		s.Put(definition(name, name+":"))
	}
	if got := names(s); !slices.Equal(got, []string{"a", "b", "k", "m", "z"}) || s.Len() != 5 {
		t.Errorf("listed as %q, length %d", got, s.Len())
	}
	for _, name := range names(s) {
		if d := s.Get(name); d == nil || d.Name != name {
			t.Errorf("%s is %v", name, d)
		}
	}
	if s.Get("c") != nil || s.Get("") != nil || s.Get("zz") != nil {
		t.Error("a name that is not there was found")
	}
	if !s.Drop("k") || s.Drop("k") || s.Get("k") != nil || s.Len() != 4 {
		t.Errorf("after one drop: %q", names(s))
	}
}

// TestSerialsAreNeverUsedTwice: nodes tell an index from another of its name by the serial, also after a flush.
func TestSerialsAreNeverUsedTwice(t *testing.T) {
	s := search.NewStore()
	if s.Used() {
		t.Error("an empty store is in use")
	}
	seen := map[uint64]bool{}
	put := func(name string) {
		s.Put(definition(name, "p"))
		serial := s.Get(name).Serial
		if serial == 0 || seen[serial] {
			t.Errorf("%s has the serial %d again", name, serial)
		}
		seen[serial] = true
	}
	put("a")
	put("b")
	put("a") // takes the place of the other
	s.Drop("b")
	put("b")
	s.Reset()
	if s.Len() != 0 || len(s.Aliases()) != 0 || s.Size() != 0 {
		t.Errorf("after a reset: %d indexes, %d bytes", s.Len(), s.Size())
	}
	if !s.Used() {
		t.Error("a store that was reset has forgotten that it was used")
	}
	put("a")
}

// TestAliases: an alias is found only where no index has its name, and may point at nothing.
func TestAliases(t *testing.T) {
	s := search.NewStore()
	s.Put(definition("books", "b:"))
	s.Put(definition("films", "f:"))
	if !s.SetAlias("best", "books") || !s.Used() {
		t.Error("a new alias is said to be old")
	}
	if d := s.Find("best"); d == nil || d.Name != "books" {
		t.Errorf("best is %v", d)
	}
	if s.Get("best") != nil {
		t.Error("Get follows an alias")
	}
	if s.SetAlias("best", "films") {
		t.Error("an alias that was there is said to be new")
	}
	if d := s.Find("best"); d == nil || d.Name != "films" {
		t.Errorf("best is %v after it was pointed elsewhere", d)
	}
	s.SetAlias("films", "books") // the name of an index goes before
	if d := s.Find("films"); d == nil || d.Name != "films" {
		t.Errorf("films is %v", d)
	}
	s.SetAlias("nowhere", "missing")
	s.SetAlias("chain", "best") // an alias of an alias is not followed
	if s.Find("nowhere") != nil || s.Find("chain") != nil || s.Find("unknown") != nil {
		t.Error("an alias without an index was found")
	}
	s.Drop("films")
	if d := s.Find("films"); d == nil || d.Name != "books" {
		t.Errorf("films is %v after the index has gone", d)
	}
	if !s.DropAlias("films") || s.DropAlias("films") || s.Find("films") != nil {
		t.Error("a dropped alias is still there")
	}
}

// TestForkKeepsItsState: a snapshot writes a fork while the store changes.
func TestForkKeepsItsState(t *testing.T) {
	s := search.NewStore()
	s.Put(definition("a", "a:"))
	s.Put(definition("b", "b:"))
	s.SetAlias("x", "a")
	f := s.Fork()
	before, size := wire.Marshal(f), f.Size()
	s.Put(definition("a", "other:"))
	s.Put(definition("c", "c:"))
	s.Drop("b")
	s.SetAlias("x", "c")
	s.SetAlias("w", "c")
	s.DropAlias("x")
	if !slices.Equal(wire.Marshal(f), before) || f.Size() != size {
		t.Errorf("the fork became %q, %v", names(f), f.Aliases())
	}
	if f.Get("a").Prefixes[0] != "a:" || f.Find("x").Name != "a" {
		t.Error("the fork sees changes")
	}
}

// TestSizeIsThatOfTheContents: after any changes the size is that of a store which was read from the snapshot.
func TestSizeIsThatOfTheContents(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := search.NewStore()
	for i := range 2000 {
		name := fmt.Sprint("n", r.IntN(20))
		switch r.IntN(6) {
		case 0, 1:
			d := definition(name, fmt.Sprint("prefix:", r.IntN(1000)))
			d.Schema = d.Schema[:r.IntN(3)]
			s.Put(d)
		case 2:
			s.Drop(name)
		case 3, 4:
			s.SetAlias(name, fmt.Sprint("n", r.IntN(2000)))
		default:
			s.DropAlias(name)
		}
		if i%100 != 0 {
			continue
		}
		read := search.NewStore()
		if err := wire.Unmarshal(wire.Marshal(s), read); err != nil {
			t.Fatal(err)
		}
		if read.Size() != s.Size() || !read.Valid() || !slices.Equal(names(read), names(s)) || !slices.Equal(read.Aliases(), s.Aliases()) {
			t.Fatalf("after %d changes: size %d, read back %d; %q and %q", i, s.Size(), read.Size(), names(s), names(read))
		}
	}
	for _, d := range slices.Clone(s.All()) {
		s.Drop(d.Name)
	}
	for _, a := range slices.Clone(s.Aliases()) {
		s.DropAlias(a.Name)
	}
	if s.Size() != 0 {
		t.Errorf("an empty store takes %d bytes", s.Size())
	}
}

// TestDefinitionRoundTrip: every field of a definition is in the snapshot.
func TestDefinitionRoundTrip(t *testing.T) {
	want := search.Definition{
		Name: "n", Source: search.Stream, Prefixes: []string{"key"}, Language: "german", SkipScan: true, Serial: 7, Since: 99,
		Schema: []search.Field{{Name: "f", Type: search.Facet, Fast: true, NoTokenize: true, NoStem: true, From: "a.b"}},
	}
	var got search.Definition
	if err := wire.Unmarshal(wire.Marshal(&want), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, error %v", got, err)
	}
}

// TestValidRefusesWhatLookupsCanNotUse: a damaged or newer snapshot is refused rather than searched wrongly.
func TestValidRefusesWhatLookupsCanNotUse(t *testing.T) {
	store := func(serial uint64, list []search.Definition, aliases []search.Alias) *search.Store {
		c := wire.Encoder(nil)
		c.Uvarint(&serial)
		wire.Records(c, &list)
		wire.Records(c, &aliases)
		s := search.NewStore()
		if err := wire.Unmarshal(c.B(), s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	with := func(change func(*search.Definition)) search.Definition {
		d := definition("a", "p")
		d.Serial = 1
		change(&d)
		return d
	}
	good := with(func(*search.Definition) {})
	if !store(1, []search.Definition{good}, []search.Alias{{Name: "a"}, {Name: "b"}}).Valid() {
		t.Error("a good store is refused")
	}
	for name, s := range map[string]*search.Store{
		"two of a name":         store(1, []search.Definition{good, good}, nil),
		"out of order":          store(1, []search.Definition{with(func(d *search.Definition) { d.Name = "b" }), good}, nil),
		"no prefix":             store(1, []search.Definition{with(func(d *search.Definition) { d.Prefixes = nil })}, nil),
		"a serial of later":     store(1, []search.Definition{with(func(d *search.Definition) { d.Serial = 2 })}, nil),
		"an unknown source":     store(1, []search.Definition{with(func(d *search.Definition) { d.Source = 200 })}, nil),
		"an unknown type":       store(1, []search.Definition{with(func(d *search.Definition) { d.Schema[1].Type = 200 })}, nil),
		"aliases out of order":  store(1, nil, []search.Alias{{Name: "b"}, {Name: "a"}}),
		"a definition unstored": store(0, []search.Definition{good}, nil),
	} {
		if s.Valid() {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestWatches: an index of a stream watches one key, others all keys with a prefix.
func TestWatches(t *testing.T) {
	for _, c := range []struct {
		source   search.Source
		prefixes []string
		key      string
		want     bool
	}{
		{search.Hash, []string{"user:"}, "user:1", true},
		{search.Hash, []string{"user:"}, "user:", true},
		{search.Hash, []string{"user:"}, "user", false},
		{search.Hash, []string{"user:"}, "User:1", false},
		{search.JSON, []string{"a:", "b:"}, "b:9", true},
		{search.String, []string{""}, "anything", true},
		{search.Stream, []string{"log"}, "log", true},
		{search.Stream, []string{"log"}, "log:2", false},
	} {
		d := search.Definition{Source: c.source, Prefixes: c.prefixes}
		if got := d.Watches(c.key); got != c.want {
			t.Errorf("%s %q watches %q: %v", c.source, c.prefixes, c.key, got)
		}
	}
}

// TestSame: only what changes which documents are indexed, and how, makes definitions differ.
func TestSame(t *testing.T) {
	a := definition("a", "p:")
	for name, c := range map[string]struct {
		change func(*search.Definition)
		same   bool
	}{
		"nothing":     {func(*search.Definition) {}, true},
		"the name":    {func(d *search.Definition) { d.Name = "b" }, true},
		"the serial":  {func(d *search.Definition) { d.Serial, d.Since = 5, 6 }, true},
		"a prefix":    {func(d *search.Definition) { d.Prefixes = []string{"p:", "q:"} }, false},
		"language":    {func(d *search.Definition) { d.Language = "french" }, false},
		"the source":  {func(d *search.Definition) { d.Source = search.JSON }, false},
		"a path":      {func(d *search.Definition) { d.Schema[1].From = "cost" }, false},
		"a new field": {func(d *search.Definition) { d.Schema = append(d.Schema, search.Field{Name: "x"}) }, false},
	} {
		b := definition("a", "p:")
		if c.change(&b); a.Same(&b) != c.same {
			t.Errorf("%s: same %v", name, !c.same)
		}
	}
}

// TestFields: names, paths and what a column needs.
func TestFields(t *testing.T) {
	d := definition("a", "p:")
	if f := d.Field("price"); f == nil || f.Path() != "cost.net" || !f.Column() || !f.Type.Numeric() {
		t.Errorf("price is %+v", f)
	}
	if f := d.Field("title"); f == nil || f.Path() != "title" || f.Column() || f.Type.Numeric() {
		t.Errorf("title is %+v", f)
	}
	if d.Field("Price") != nil || d.Field("") != nil {
		t.Error("a field that is not there was found")
	}
	numeric := []search.FieldType{search.U64, search.I64, search.F64, search.Date, search.Bool}
	for _, name := range []string{"TEXT", "KEYWORD", "U64", "I64", "F64", "DATE", "BOOL", "FACET"} {
		kind, ok := search.ParseFieldType(name)
		if !ok || kind.String() != name || kind.Numeric() != slices.Contains(numeric, kind) {
			t.Errorf("%s is %v, %v", name, kind, ok)
		}
		column := search.Field{Type: kind}
		if column.Column() != (kind == search.Keyword || kind == search.Facet) {
			t.Errorf("%s has a column: %v", name, column.Column())
		}
	}
	for _, name := range []string{"JSON", "HASH", "STRING", "STREAM"} {
		if s, ok := search.ParseSource(name); !ok || s.String() != name {
			t.Errorf("%s is %v, %v", name, s, ok)
		}
	}
	if _, ok := search.ParseFieldType("text"); ok {
		t.Error("a type in lower case is one")
	}
	if _, ok := search.ParseSource("LIST"); ok {
		t.Error("LIST is a source")
	}
}

// TestLanguagesAreInOrder: the error of SEARCH.CREATE lists them as they are.
func TestLanguagesAreInOrder(t *testing.T) {
	if !slices.IsSorted(search.Languages) || len(slices.Compact(slices.Clone(search.Languages))) != len(search.Languages) {
		t.Errorf("languages are %q", search.Languages)
	}
}

// TestLookup: a member of the whole name goes before a path of members.
func TestLookup(t *testing.T) {
	doc, err := jsondoc.Parse([]byte(`{"a":{"b":{"c":1},"b.c":2},"a.b":{"c":3},"x.y":4,"l":[{"b":5}],"":6,"n":null}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"a.b.c": "2", "x.y": "4", "": "6", "l": `[{"b":5}]`, "a.b": `{"c":3}`, "n": "null",
		"l.b": "", "a.z": "", "z.a": "", "x": "", "n.a": "", "a.": "",
	} {
		got, text := search.Lookup(doc, path), ""
		if got != nil {
			if text, err = jsondoc.Text(got); err != nil {
				t.Fatal(err)
			}
		}
		if text != want {
			t.Errorf("%q is %q, want %q", path, text, want)
		}
	}
	if search.Lookup(nil, "a") != nil {
		t.Error("a value was found in no document")
	}
}
