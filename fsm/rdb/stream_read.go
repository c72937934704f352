package rdb

import (
	"encoding/binary"

	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// streamIDSize is the length of a raw ID in bytes.
const streamIDSize = 16

// stream reads a stream. The oldest form has no counters, which are made up as Redis
// does; the newest also tells when consumers were last given something.
func (r *reader) stream(t Type) (keyspace.Container, error) {
	s := keyspace.NewStreamLog()
	n, err := r.length()
	if err != nil {
		return nil, err
	}
	for range n {
		if err := r.streamNode(s); err != nil {
			return nil, err
		}
	}
	if err := r.streamCounters(t, s); err != nil {
		return nil, err
	}
	if n, err = r.length(); err != nil {
		return nil, err
	}
	for range n {
		if err := r.group(t, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// streamCounters reads what stands between entries and groups.
func (r *reader) streamCounters(t Type, s *keyspace.StreamLog) error {
	length, err := r.length()
	if err != nil {
		return err
	}
	last, err := r.id()
	if err != nil || length != uint64(s.Len()) || last.Compare(s.Top()) < 0 {
		return orFormat(err)
	}
	if t == TypeStream {
		s.SetLast(last, keyspace.StreamID{}, int64(length))
		return nil
	}
	if _, err = r.id(); err != nil { // the first, which the entries tell
		return err
	}
	deleted, err := r.id()
	if err != nil {
		return err
	}
	added, err := r.length()
	if err != nil || int64(added) < 0 {
		return orFormat(err)
	}
	s.SetLast(last, deleted, int64(added))
	return nil
}

// orFormat is err, or ErrFormat if there is none.
func orFormat(err error) error {
	if err != nil {
		return err
	}
	return ErrFormat
}

// id reads an ID that is written as two lengths.
func (r *reader) id() (id keyspace.StreamID, err error) {
	if id.Ms, err = r.length(); err != nil {
		return id, err
	}
	id.Seq, err = r.length()
	return id, err
}

// rawID reads an ID that is written as bytes.
func (r *reader) rawID() (id keyspace.StreamID, err error) {
	b, err := r.bytes(streamIDSize)
	if err != nil {
		return id, err
	}
	return idOf(b), nil
}

func idOf(b []byte) keyspace.StreamID {
	return keyspace.StreamID{Ms: binary.BigEndian.Uint64(b), Seq: binary.BigEndian.Uint64(b[8:])}
}

// streamNode reads the entries of one listpack.
func (r *reader) streamNode(s *keyspace.StreamLog) error {
	key, err := r.blob()
	if err != nil || len(key) != streamIDSize {
		return orFormat(err)
	}
	b, err := r.blob()
	if err != nil {
		return err
	}
	list, err := listpacks(b)
	if err != nil {
		return ErrFormat
	}
	p := &nodeReader{r: r, list: list, first: idOf(key)}
	p.read(s)
	if p.err == nil && list.Done() != nil {
		p.err = ErrFormat
	}
	return p.err
}

// nodeReader reads a node of a stream; its error is sticky.
type nodeReader struct {
	r      *reader
	list   entries
	first  keyspace.StreamID
	fields [][]byte
	err    error
}

func (nr *nodeReader) fail(err error) {
	if nr.err == nil {
		nr.err = err
	}
}

// text is the next part, which is charged for.
func (nr *nodeReader) text() []byte {
	if nr.err != nil {
		return nil
	}
	e, err := nr.list.Next()
	if err != nil {
		nr.fail(ErrFormat)
		return nil
	}
	if err := nr.r.take(e.Len()); err != nil {
		nr.fail(err)
	}
	return []byte(e.String())
}

// number is the next part as an integer.
func (nr *nodeReader) number() int64 {
	if nr.err != nil {
		return 0
	}
	e, err := nr.list.Next()
	n, ok := e.Int()
	if err != nil || !ok {
		nr.fail(ErrFormat)
	}
	return n
}

// count is a number of things that follow, of which there may be none.
func (nr *nodeReader) count() (n int64) {
	if n = nr.number(); n < 0 {
		nr.fail(ErrFormat)
	}
	return n
}

// read reads the node's head and its entries, those marked as deleted too, which are
// left out.
func (nr *nodeReader) read(s *keyspace.StreamLog) {
	live, deleted, fields := nr.count(), nr.count(), nr.count()
	for i := int64(0); i < fields && nr.err == nil; i++ {
		nr.fields = append(nr.fields, nr.text())
	}
	if nr.number() != 0 {
		nr.fail(ErrFormat)
	}
	seen := int64(0)
	for nr.err == nil && nr.list.More() {
		if nr.entry(s) {
			live--
		} else {
			deleted--
		}
		seen++
	}
	if live != 0 || deleted != 0 || seen == 0 {
		nr.fail(ErrFormat)
	}
}

// entry reads one entry and appends it unless it is marked as deleted.
func (nr *nodeReader) entry(s *keyspace.StreamLog) (lives bool) {
	flags := nr.number()
	id := keyspace.StreamID{Ms: nr.first.Ms + uint64(nr.number()), Seq: nr.first.Seq + uint64(nr.number())}
	var words [][]byte
	parts := int64(3)
	if flags&entrySameFields != 0 {
		for _, f := range nr.fields {
			if err := nr.r.take(len(f)); err != nil { // each entry has a copy
				nr.fail(err)
				return false
			}
			words = append(words, f, nr.text())
		}
		parts += int64(len(nr.fields))
	} else {
		n := nr.count()
		for i := int64(0); i < n && nr.err == nil; i++ {
			words = append(words, nr.text(), nr.text())
		}
		parts += 1 + int64(len(words))
	}
	if nr.number() != parts || flags&^(entryDeleted|entrySameFields) != 0 || len(words) == 0 {
		nr.fail(ErrFormat)
	}
	if flags&entryDeleted != 0 || nr.err != nil {
		return false
	}
	if id.Compare(s.Last()) <= 0 {
		nr.fail(ErrFormat)
		return false
	}
	s.Append(keyspace.NewStreamEntry(id, words))
	return true
}

// group reads a consumer group: what is pending, then the consumers with the IDs that
// are pending with each.
func (r *reader) group(t Type, s *keyspace.StreamLog) error {
	name, err := r.text()
	if err != nil {
		return err
	}
	last, err := r.id()
	if err != nil || s.Group(name) != nil {
		return orFormat(err)
	}
	read := s.ReadUpTo(last)
	if t != TypeStream {
		n, err := r.length()
		if err != nil || int64(n) < keyspace.UnknownRead {
			return orFormat(err)
		}
		read = int64(n)
	}
	s.AddGroup(name, last, read)
	g := s.Own(name)
	pending, err := r.pending()
	if err != nil {
		return err
	}
	n, err := r.length()
	if err != nil {
		return err
	}
	for range n {
		if err := r.consumer(t, g, pending); err != nil {
			return err
		}
	}
	if g.Pending() != len(pending) {
		return ErrFormat // pending without a consumer
	}
	return nil
}

// pending reads what is pending in a group, without consumers.
func (r *reader) pending() (map[keyspace.StreamID]keyspace.StreamPending, error) {
	n, err := r.length()
	if err != nil {
		return nil, err
	}
	all := map[keyspace.StreamID]keyspace.StreamPending{}
	for range n {
		id, err := r.rawID()
		if err != nil {
			return nil, err
		}
		p := keyspace.StreamPending{ID: id}
		if p.Delivered, err = r.millis(); err != nil {
			return nil, err
		}
		count, err := r.length()
		if _, twice := all[id]; err != nil || twice || int64(count) < 0 {
			return nil, orFormat(err)
		}
		p.Count = int64(count)
		if err := r.take(streamIDSize); err != nil {
			return nil, err
		}
		all[id] = p
	}
	return all, nil
}

func (r *reader) consumer(t Type, g *keyspace.StreamGroup, pending map[keyspace.StreamID]keyspace.StreamPending) error {
	name, err := r.text()
	if err != nil {
		return err
	}
	seen, err := r.millis()
	if err != nil {
		return err
	}
	active := seen // what Redis takes it for where it isn't told
	if t == TypeStream3 {
		if active, err = r.millis(); err != nil {
			return err
		}
	}
	c, made := g.OwnConsumer(name, seen)
	if !made {
		return ErrFormat
	}
	c.Active = max(active, -1)
	n, err := r.length()
	if err != nil {
		return err
	}
	for range n {
		id, err := r.rawID()
		if err != nil {
			return err
		}
		p, ok := pending[id]
		if _, taken := g.FindPending(id); !ok || taken {
			return ErrFormat
		}
		if name == "" && p.Delivered == 0 { // see unownedOf
			g.Release(id, p.Count)
			continue
		}
		g.Assign(c, id, p.Delivered, p.Count)
	}
	if name == "" && seen == 0 && c.Pending() == 0 && n > 0 {
		g.DropConsumer(name)
	}
	return nil
}
