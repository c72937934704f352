package script

import (
	"cmp"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Store is the scripts and libraries of a database: replicated, so that a script loaded
// on one node runs by its digest on every other.
type Store struct {
	scripts   *cow.BTree[string, kept]
	recent    *cow.BTree[uint64, string] // scripts that only EVAL brought, by last use
	libraries *cow.BTree[string, *Library]
	functions *cow.BTree[string, string] // libraries by lower-case name of a function
	count     int                        // of functions
	used      uint64                     // uses so far
	// What scripts and libraries take, in logical bytes.
	scriptBytes, libraryBytes int64
}

// kept is a script and its last use; 0 says that SCRIPT LOAD asked to keep it.
type kept struct {
	body string
	used uint64
}

// maxEvals is the number of scripts of EVAL that are kept: the least recently used one
// goes first. Those of SCRIPT LOAD stay until a flush.
const maxEvals = 500

// NewStore is an empty store.
func NewStore() *Store {
	return &Store{
		scripts:   cow.NewBTree[string, kept](headOf, strings.Compare),
		recent:    cow.NewBTree[uint64, string](func(n uint64) uint64 { return n }, cmp.Compare[uint64]),
		libraries: cow.NewBTree[string, *Library](headOf, strings.Compare),
		functions: cow.NewBTree[string, string](headOf, strings.Compare),
	}
}

// headOf is the first eight bytes of a name, which order as the name does.
func headOf(s string) uint64 {
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

// Fork is the store as it is now, in constant time.
func (s *Store) Fork() *Store {
	f := *s
	f.scripts, f.recent, f.libraries, f.functions = s.scripts.Snapshot(), s.recent.Snapshot(), s.libraries.Snapshot(), s.functions.Snapshot()
	return &f
}

// entryCost is the logical overhead of a script or library in bytes.
const entryCost = 160

// Size is the logical memory in bytes.
func (s *Store) Size() int64 { return s.scriptBytes + s.libraryBytes }

// Script is the script of a digest in lower case.
func (s *Store) Script(digest string) (body string, ok bool) {
	k, ok := s.scripts.Get(digest)
	return k.body, ok
}

// maxKnownBytes limits the scripts and libraries of a database, in bytes together, that are compiled once and then called
// without a charge for it.
const maxKnownBytes = 512 << 10

// Known reports whether the scripts and libraries of the store are known: whoever calls them doesn't pay for compiling them,
// because a node keeps them compiled.
func (s *Store) Known() bool { return s.Size() <= maxKnownBytes }

// Scripts returns the number of scripts.
func (s *Store) Scripts() int { return s.scripts.Len() }

// Keep stores a script until a flush, and returns its digest.
func (s *Store) Keep(body string) string {
	digest := Digest(body)
	if k, had := s.scripts.Get(digest); had {
		if k.used != 0 {
			s.recent.Delete(k.used)
			s.scripts.Set(digest, kept{body: k.body})
		}
		return digest
	}
	s.scripts.Set(digest, kept{body: strings.Clone(body)})
	s.scriptBytes += entryCost + int64(len(body))
	return digest
}

// Use notes that EVAL ran a script.
func (s *Store) Use(digest, body string) {
	k, had := s.scripts.Get(digest)
	switch {
	case had && (k.used == 0 || k.used == s.used):
		return
	case had:
		s.recent.Delete(k.used)
	default:
		k.body = strings.Clone(body)
		s.scriptBytes += entryCost + int64(len(body))
	}
	s.used++
	k.used = s.used
	digest = strings.Clone(digest)
	s.scripts.Set(digest, k)
	s.recent.Set(k.used, digest)
	if s.recent.Len() > maxEvals {
		oldest, name, _ := s.recent.Min()
		s.recent.Delete(oldest)
		gone, _ := s.scripts.Remove(name)
		s.scriptBytes -= entryCost + int64(len(gone.body))
	}
}

// Flush forgets all scripts.
func (s *Store) Flush() {
	fresh := NewStore()
	s.scripts, s.recent, s.scriptBytes = fresh.scripts, fresh.recent, 0
}

// The refusals of libraries, in Redis's words without their class.
var (
	ErrNoLibrary = errors.New("Library not found")
)

// Library is the library of a name, nil if there is none.
func (s *Store) Library(name string) *Library {
	l, _ := s.libraries.Get(name)
	return l
}

// Function is the function of a name in any case, with its library; nil if there is none.
func (s *Store) Function(name string) (*Library, *Function) {
	name = ascii.Lower(name)
	library, ok := s.functions.Get(name)
	if !ok {
		return nil, nil
	}
	l := s.Library(library)
	for i := range l.Functions {
		if ascii.Lower(l.Functions[i].Name) == name {
			return l, &l.Functions[i]
		}
	}
	return nil, nil
}

// Libraries calls f with every library in the order of their names.
func (s *Store) Libraries(f func(*Library)) {
	s.libraries.All(func(_ string, l *Library) bool {
		f(l)
		return true
	})
}

// Counts returns the numbers of libraries and functions.
func (s *Store) Counts() (libraries, functions int) { return s.libraries.Len(), s.count }

// Vacant returns why a library of this text can't be added, before its text is run: its
// first line is wrong, or the name is taken and may not be replaced.
func (s *Store) Vacant(source string, replace bool) error {
	name, err := libraryName(source)
	if err == nil && !replace && s.Library(name) != nil {
		err = errTaken(name)
	}
	return err
}

func errTaken(name string) error { return errors.New("Library '" + name + "' already exists") }

// Add stores a library, in place of the one of its name if replace is set.
func (s *Store) Add(l *Library, replace bool) error {
	old := s.Library(l.Name)
	if old != nil && !replace {
		return errTaken(l.Name)
	}
	for i := range l.Functions {
		name := l.Functions[i].Name
		if of, taken := s.functions.Get(ascii.Lower(name)); taken && of != l.Name {
			return errors.New("Function " + name + " already exists")
		}
	}
	if old != nil {
		s.remove(old)
	}
	s.libraries.Set(l.Name, l)
	for i := range l.Functions {
		s.functions.Set(ascii.Lower(l.Functions[i].Name), l.Name)
	}
	s.count += len(l.Functions)
	s.libraryBytes += entryCost + int64(len(l.Code))
	return nil
}

func (s *Store) remove(l *Library) {
	s.libraries.Delete(l.Name)
	for i := range l.Functions {
		s.functions.Delete(ascii.Lower(l.Functions[i].Name))
	}
	s.count -= len(l.Functions)
	s.libraryBytes -= entryCost + int64(len(l.Code))
}

// Delete removes a library; the error is ErrNoLibrary.
func (s *Store) Delete(name string) error {
	l := s.Library(name)
	if l == nil {
		return ErrNoLibrary
	}
	s.remove(l)
	return nil
}

// FlushLibraries removes all libraries.
func (s *Store) FlushLibraries() {
	fresh := NewStore()
	s.libraries, s.functions, s.count, s.libraryBytes = fresh.libraries, fresh.functions, 0, 0
}

// The kinds of records. Codes are append-only.
const (
	recordUses    = 0
	recordScript  = 1
	recordLibrary = 2
)

// ErrRecord says that a saved record is damaged.
var ErrRecord = errors.New("script: malformed record")

// Save emits every record: the number of uses, scripts, libraries. An empty store that
// was never used has none; equal stores give equal bytes.
func (s *Store) Save(emit func(record []byte) error) (err error) {
	put := func(write func(w *wire.Writer)) bool {
		var w wire.Writer
		write(&w)
		err = emit(w.B)
		return err == nil
	}
	if s.used > 0 && !put(func(w *wire.Writer) { w.Uvarint(recordUses); w.Uvarint(s.used) }) {
		return err
	}
	s.scripts.All(func(_ string, k kept) bool {
		return put(func(w *wire.Writer) { w.Uvarint(recordScript); w.Uvarint(k.used); w.String(k.body) })
	})
	if err != nil {
		return err
	}
	s.libraries.All(func(_ string, l *Library) bool {
		return put(func(w *wire.Writer) { w.Uvarint(recordLibrary); l.encode(w) })
	})
	return err
}

// Load adds a record that Save emitted.
func (s *Store) Load(record []byte) error {
	r := wire.NewReader(record)
	switch r.Uvarint() {
	case recordUses:
		s.used = r.Uvarint()
	case recordScript:
		s.loadScript(r.Uvarint(), r.String())
	case recordLibrary:
		l := decodeLibrary(r)
		if err := r.Done(); err != nil {
			return err
		}
		return s.Add(l, false)
	default:
		return ErrRecord
	}
	return r.Done()
}

func (s *Store) loadScript(used uint64, body string) {
	digest := Digest(body)
	s.scripts.Set(digest, kept{body, used})
	s.scriptBytes += entryCost + int64(len(body))
	if used != 0 {
		s.recent.Set(used, digest)
	}
}

func (l *Library) encode(w *wire.Writer) {
	w.String(l.Name)
	w.String(l.Code)
	w.Uvarint(uint64(len(l.Functions)))
	for i := range l.Functions {
		f := &l.Functions[i]
		w.String(f.Name)
		w.Bool(f.Described)
		w.String(f.Description)
		w.Uvarint(uint64(len(f.Flags)))
		for _, flag := range f.Flags {
			w.String(flag)
		}
	}
}

func decodeLibrary(r *wire.Reader) *Library {
	l := &Library{Name: r.String(), Code: r.String()}
	l.Functions = make([]Function, r.Count(4))
	for i := range l.Functions {
		f := &l.Functions[i]
		f.Name, f.Described, f.Description = r.String(), r.Bool(), r.String()
		for range r.Count(1) {
			f.Flags = append(f.Flags, r.String())
		}
	}
	return l
}
