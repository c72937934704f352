package search

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// Store is the definitions and aliases of a database. It is small, so a fork shares the lists
// and a change replaces them.
type Store struct {
	serial  uint64
	indexes []*Definition
	aliases []Alias
	size    int64
}

// Alias is another name of an index, which need not exist.
type Alias struct{ Name, Index string }

// NewStore is an empty store.
func NewStore() *Store { return &Store{} }

// Fork is the store as it is now.
func (s *Store) Fork() *Store {
	f := *s
	return &f
}

// Size is the logical memory in bytes.
func (s *Store) Size() int64 { return s.size }

// Len returns the number of indexes.
func (s *Store) Len() int { return len(s.indexes) }

// Used reports whether there is, or was, anything in the store.
func (s *Store) Used() bool { return s.serial > 0 || len(s.aliases) > 0 }

// All returns the definitions in the order of their names. They must not be changed.
func (s *Store) All() []*Definition { return s.indexes }

// Aliases are in the order of their names.
func (s *Store) Aliases() []Alias { return s.aliases }

func (s *Store) place(name string) (int, bool) {
	return slices.BinarySearchFunc(s.indexes, name, func(d *Definition, name string) int { return strings.Compare(d.Name, name) })
}

func (s *Store) placeAlias(name string) (int, bool) {
	return slices.BinarySearchFunc(s.aliases, name, func(a Alias, name string) int { return strings.Compare(a.Name, name) })
}

// Get is the index of that very name, nil if there is none.
func (s *Store) Get(name string) *Definition {
	if i, found := s.place(name); found {
		return s.indexes[i]
	}
	return nil
}

// Find is the index of a name or alias, nil if there is none. A name goes before an alias.
func (s *Store) Find(name string) *Definition {
	if d := s.Get(name); d != nil {
		return d
	}
	if i, found := s.placeAlias(name); found {
		return s.Get(s.aliases[i].Index)
	}
	return nil
}

// Put adds a definition, or takes the place of the one of its name, under a new serial.
func (s *Store) Put(d Definition) {
	s.serial++
	d.Serial = s.serial
	i, found := s.place(d.Name)
	s.indexes = slices.Clone(s.indexes)
	if found {
		s.size -= s.indexes[i].Size()
		s.indexes[i] = &d
	} else {
		s.indexes = slices.Insert(s.indexes, i, &d)
	}
	s.size += d.Size()
}

// Drop removes the index of that very name and reports whether there was one.
func (s *Store) Drop(name string) bool {
	i, found := s.place(name)
	if !found {
		return false
	}
	s.size -= s.indexes[i].Size()
	s.indexes = slices.Delete(slices.Clone(s.indexes), i, i+1)
	return true
}

const aliasCost = 64

// SetAlias points an alias at an index and reports whether the alias is new.
func (s *Store) SetAlias(name, index string) bool {
	i, found := s.placeAlias(name)
	s.aliases = slices.Clone(s.aliases)
	if found {
		s.size -= int64(len(s.aliases[i].Index))
		s.aliases[i].Index = index
	} else {
		s.aliases = slices.Insert(s.aliases, i, Alias{name, index})
		s.size += aliasCost + int64(len(name))
	}
	s.size += int64(len(index))
	return !found
}

// DropAlias removes an alias and reports whether there was one.
func (s *Store) DropAlias(name string) bool {
	i, found := s.placeAlias(name)
	if !found {
		return false
	}
	s.size -= aliasCost + int64(len(name)+len(s.aliases[i].Index))
	s.aliases = slices.Delete(slices.Clone(s.aliases), i, i+1)
	return true
}

// Reset drops all definitions and aliases.
func (s *Store) Reset() { *s = Store{serial: s.serial} }

// Fields codes the value in its wire format.
func (a *Alias) Fields(c *wire.Codec) {
	c.String(&a.Name)
	c.String(&a.Index)
}

// Fields codes the value in its wire format.
func (s *Store) Fields(c *wire.Codec) {
	c.Uvarint(&s.serial)
	all := make([]Definition, 0, len(s.indexes))
	for _, d := range s.indexes {
		all = append(all, *d)
	}
	wire.Records(c, &all)
	wire.Records(c, &s.aliases)
	if !c.Reading() {
		return
	}
	s.indexes, s.size = nil, 0
	for i := range all {
		s.indexes = append(s.indexes, &all[i])
		s.size += all[i].Size()
	}
	for _, a := range s.aliases {
		s.size += aliasCost + int64(len(a.Name)+len(a.Index))
	}
}

// Valid reports whether what was read keeps the order that look-ups rely on.
func (s *Store) Valid() bool {
	for i, d := range s.indexes {
		if (i > 0 && s.indexes[i-1].Name >= d.Name) || len(d.Prefixes) == 0 || d.Serial > s.serial || d.Source >= sources {
			return false
		}
		for f := range d.Schema {
			if d.Schema[f].Type >= fieldTypes {
				return false
			}
		}
	}
	return slices.IsSortedFunc(s.aliases, func(a, b Alias) int { return strings.Compare(a.Name, b.Name) })
}
