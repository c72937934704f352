package keyspace

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// ErrRecord says that a snapshot's record is not one that Save wrote, or is in
// the wrong place.
var ErrRecord = errors.New("keyspace: malformed record")

// Save gives every key as one record to emit, or a large one as several, in an order
// that depends on the keys alone, so that equal keyspaces give equal records: keys past
// their deadline but not swept yet are part of the state and are saved too. A record
// holds only until emit returns. Save only reads, so a fork can be saved while its original is
// written to.
func (db *DB) Save(emit func(record []byte) error) error { return db.save(wire.Writer{}, emit) }

// SaveDigests is Save for a hash: digests stand in the place of large strings, and cold ones are not read.
func (db *DB) SaveDigests(emit func(record []byte) error) error {
	return db.save(wire.Writer{Digests: true}, emit)
}

// SaveReferences is Save for a snapshot: it names cold strings, and adds their payloads to refs.
func (db *DB) SaveReferences(emit func(record []byte) error, refs *wire.References) error {
	return db.save(wire.Writer{References: refs}, emit)
}

func (db *DB) save(w wire.Writer, emit func(record []byte) error) error {
	var failed error
	db.keys.All(func(o *Object, _ struct{}) bool {
		key := o.key()
		w.B = w.B[:0]
		encode(&w, key, o)
		if err := emitParts(key, w.B, emit); err != nil {
			failed = fmt.Errorf("saving a key: %w", err)
		}
		return failed == nil
	})
	return failed
}

// A record of more than maxRecord bytes is cut into parts, records of their own with this
// code in place of the type, because what carries them bounds the length of a record, and
// containers have no bound.
const (
	maxRecord = 1 << 20
	partCode  = 255
)

// emitParts emits a key's record, whole or in parts.
func emitParts(key string, record []byte, emit func([]byte) error) error {
	if len(record) <= maxRecord {
		return emit(record)
	}
	var w wire.Writer
	for len(record) > 0 {
		n := min(len(record), maxRecord)
		w.B = w.B[:0]
		w.String(key)
		w.Uvarint(partCode)
		w.Bool(n == len(record)) // the last one
		w.Fixed(record[:n])
		if err := emit(w.B); err != nil {
			return err
		}
		record = record[n:]
	}
	return nil
}

// encode writes one key: its name, type, deadline, version and payload. The order
// of the fields never changes; new ones are appended.
func encode(w *wire.Writer, key string, o *Object) {
	if encodeLarge(w, key, o) {
		return
	}
	w.String(key)
	w.Uvarint(uint64(o.Type()))
	w.Varint(o.Expire.record())
	w.Uvarint(o.Version)
	if o.Type() == String {
		if o.Cold() {
			w.Bytes(o.cold().Bytes()) // which leaves it cold
			return
		}
		w.Uvarint(uint64(o.Len()))
		o.Pieces(0, o.Len(), func(s string) bool {
			w.B = append(w.B, s...)
			return true
		})
		return
	}
	if o.isPacked() {
		_, record := o.block()
		w.B = append(w.B, record...)
		return
	}
	o.Data().Encode(w)
}

// decode reads what encode wrote; room is for its work. Nothing in the result aliases the record.
func decode(record []byte, refs *wire.References, room *wire.Writer) (*Object, error) {
	r := wire.NewReader(record)
	r.Refer(refs)
	key := Alias(r.Bytes())
	kind := r.Uvarint()
	expire, version := r.Varint(), r.Uvarint()
	o := &Object{}
	switch {
	case r.Err() != nil:
	case kind == uint64(String):
		o = newText(key, r.Bytes())
	case kind == largeCode && refs != nil:
		if o = decodeLarge(key, r); o == nil {
			return nil, fmt.Errorf("%w: %w", ErrRecord, r.Err())
		}
	default:
		data, ok := decodeContainer(kind, r)
		if !ok {
			return nil, fmt.Errorf("%w: type %d", ErrRecord, kind)
		}
		o = newHolder(strings.Clone(key), data)
		o.settle()
		o = o.pack(room)
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	o.Expire, o.Version = deadlineOf(expire), version
	if expire == math.MinInt64 {
		return nil, fmt.Errorf("%w: deadline %d", ErrRecord, expire)
	}
	return o, nil
}

// decodeContainer reads a container of the type; it is not ok if there is no such type
// or the elements can't be one's.
func decodeContainer(kind uint64, r *wire.Reader) (Container, bool) {
	switch Type(min(kind, uint64(Array)+1)) {
	case List:
		return decodeList(r)
	case Hash:
		return decodeFields(r)
	case Set:
		return decodeSet(r)
	case SortedSet:
		return decodeZSet(r)
	case Stream:
		return decodeStream(r)
	case JSON:
		return decodeDocument(r)
	case VectorIndex:
		return decodeVectors(r)
	case Array:
		return decodeArray(r)
	}
	return nil, false
}

// Loader builds a keyspace from the records of Save, in their order, in linear
// time. Make one with NewLoader and use it once.
type Loader struct {
	keys   *cow.Builder[*Object, struct{}]
	dues   []due
	fields []due
	used   int64
	cold   coldCount
	key    string // of the parts
	parts  []byte // of a record that is not whole yet
	room   wire.Writer
}

// NewLoader starts with no key.
func NewLoader() *Loader {
	return &Loader{keys: cow.NewBuilder[*Object, struct{}](headOfObject, compareObjects)}
}

// Add takes the next record, which it does not keep. A record that is damaged, a
// repeated key, or a key out of order is ErrRecord.
func (l *Loader) Add(record []byte) error { return l.AddReferences(record, nil) }

// AddReferences is Add for a record of SaveReferences, if refs is not nil: the payloads that it names come from there.
func (l *Loader) AddReferences(record []byte, refs *wire.References) error {
	record, err := l.whole(record)
	if err != nil || record == nil {
		return err
	}
	o, err := decode(record, refs, &l.room)
	if err != nil {
		return err
	}
	key := o.key()
	if !l.keys.Add(o, struct{}{}) {
		return fmt.Errorf("%w: key %.40q is out of order", ErrRecord, key)
	}
	l.used += cost(key, o)
	l.cold.account(o, 1)
	s := o.schedule()
	if s.gone != 0 {
		l.dues = append(l.dues, due{s.gone, o.ownKey()})
	}
	for _, at := range []Deadline{s.look.byTime, s.look.byWall} {
		if at != 0 {
			l.fields = append(l.fields, due{at, o.ownKey()})
		}
	}
	return nil
}

// whole is the record itself, or what its parts make, nil as long as parts are missing.
func (l *Loader) whole(record []byte) ([]byte, error) {
	r := wire.NewReader(record)
	key := r.Bytes()
	if r.Uvarint() != partCode {
		if l.parts != nil {
			return nil, fmt.Errorf("%w: parts of key %.40q are missing", ErrRecord, l.key)
		}
		return record, nil
	}
	last := r.Bool()
	if r.Err() != nil || r.Len() == 0 || l.parts != nil && l.key != string(key) {
		return nil, fmt.Errorf("%w: part of key %.40q", ErrRecord, key)
	}
	l.key, l.parts = string(key), append(l.parts, r.Fixed(r.Len())...)
	if !last {
		return nil, nil
	}
	all := l.parts
	l.parts = nil
	return all, nil
}

// Finish is the keyspace of all records added.
func (l *Loader) Finish() (*DB, error) {
	if l.parts != nil {
		return nil, fmt.Errorf("%w: parts of key %.40q are missing", ErrRecord, l.key)
	}
	return &DB{keys: l.keys.Tree(), dues: index(l.dues), fields: index(l.fields), used: l.used, cold: l.cold, epoch: 1}, nil
}

// index builds an index of deadlines; no key is there twice.
func index(dues []due) *dueIndex {
	slices.SortFunc(dues, compareDue)
	b := cow.NewBuilder[due, struct{}](headOfDue, compareDue)
	for _, d := range dues {
		b.Add(d, struct{}{})
	}
	return b.Tree()
}
