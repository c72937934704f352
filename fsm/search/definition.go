package search

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// The bounds of definitions.
const (
	// MaxIndexes is the largest number of indexes of a database, and of aliases.
	MaxIndexes = 100
	// MaxFields is the largest number of fields of an index.
	MaxFields = 256
	// MaxPrefixes is the largest number of prefixes that an index may watch.
	MaxPrefixes = 100
	// MaxName is the longest name of an index, an alias or a field, and the longest prefix, in bytes.
	MaxName = 512
)

// Source is the type of the keys that hold documents.
type Source uint8

// The sources.
const (
	JSON Source = iota
	Hash
	String
	Stream
	sources
)

// String is the name in SEARCH.CREATE.
func (s Source) String() string { return [...]string{"JSON", "HASH", "STRING", "STREAM"}[s] }

// FieldType is the type of a field's values.
type FieldType uint8

// The types.
const (
	Text FieldType = iota
	Keyword
	U64
	I64
	F64
	Date
	Bool
	Facet
	fieldTypes
)

// String is the name in SEARCH.CREATE.
func (t FieldType) String() string {
	return [...]string{"TEXT", "KEYWORD", "U64", "I64", "F64", "DATE", "BOOL", "FACET"}[t]
}

// Numeric reports whether values are numbers, times among them.
func (t FieldType) Numeric() bool { return t >= U64 && t <= Bool }

// ParseFieldType is the type of a name in upper case.
func ParseFieldType(name string) (FieldType, bool) {
	for t := range fieldTypes {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}

// ParseSource is the source of a name in upper case.
func ParseSource(name string) (Source, bool) {
	for s := range sources {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

// Field is a field of an index.
type Field struct {
	Name string
	Type FieldType
	// Fast fields have their values in a column, for sorting, scores and aggregations.
	Fast bool
	// NoTokenize keeps the whole value as one token, NoStem its words as they are.
	NoTokenize, NoStem bool
	// From is the path of the value if it is not the name.
	From string
}

// Path is the place of the value in a document.
func (f *Field) Path() string {
	if f.From != "" {
		return f.From
	}
	return f.Name
}

// Column reports whether the field can be sorted by and aggregated.
func (f *Field) Column() bool { return f.Fast || f.Type == Keyword || f.Type == Facet }

// Fields codes the value in its wire format.
func (f *Field) Fields(c *wire.Codec) {
	c.String(&f.Name)
	wire.Enum(c, &f.Type, fieldTypes)
	c.Bool(&f.Fast)
	c.Bool(&f.NoTokenize)
	c.Bool(&f.NoStem)
	c.String(&f.From)
}

// Definition is an index.
type Definition struct {
	Name   string
	Source Source
	// Prefixes of the keys that hold documents; of a stream index its one key.
	Prefixes []string
	// Language of the stemmer, in lower case.
	Language string
	Schema   []Field
	// SkipScan leaves out keys that were there before the index.
	SkipScan bool
	// Serial tells the definition, and each of its rebuilds, from all others of the database.
	Serial uint64
	// Since is the log index from which on changes of keys are indexed, which matters with SkipScan only.
	Since uint64
}

// Fields codes the value in its wire format.
func (d *Definition) Fields(c *wire.Codec) {
	c.String(&d.Name)
	wire.Enum(c, &d.Source, sources)
	c.Texts(&d.Prefixes)
	c.String(&d.Language)
	wire.Records(c, &d.Schema)
	c.Bool(&d.SkipScan)
	c.Uvarint(&d.Serial)
	c.Uvarint(&d.Since)
}

// Same reports whether two definitions index the same documents in the same way.
func (d *Definition) Same(o *Definition) bool {
	return d.Source == o.Source && d.Language == o.Language && slices.Equal(d.Prefixes, o.Prefixes) && slices.Equal(d.Schema, o.Schema)
}

// Watches reports whether a key may hold documents of the index.
func (d *Definition) Watches(key string) bool {
	if d.Source == Stream {
		return d.Prefixes[0] == key
	}
	for _, p := range d.Prefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// Field is the field of a name, nil if there is none.
func (d *Definition) Field(name string) *Field {
	for i := range d.Schema {
		if d.Schema[i].Name == name {
			return &d.Schema[i]
		}
	}
	return nil
}

// Languages are those with a stemmer, in the order of the alphabet.
var Languages = []string{
	"arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian", "norwegian",
	"portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
}

// definitionCost is the logical memory of a definition or field in bytes, without its texts.
const definitionCost = 128

// Size is the logical memory in bytes.
func (d *Definition) Size() int64 {
	n := definitionCost + len(d.Name) + len(d.Language)
	for _, p := range d.Prefixes {
		n += len(p) + 16
	}
	for i := range d.Schema {
		n += definitionCost/2 + len(d.Schema[i].Name) + len(d.Schema[i].From)
	}
	return int64(n)
}
