package keyspace

import (
	"encoding/binary"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// The logical overheads of streams in bytes.
const (
	streamCost   = 160
	entryCost    = 48
	groupCost    = 256
	consumerCost = 192
	pendingCost  = 112
)

// StreamEntry is an entry of a stream: its ID and its fields and values, which stand
// packed in one string, each behind its length. A stream has both in a text: the two numbers
// of the ID, then the packed words.
type StreamEntry struct {
	ID     StreamID
	packed string
}

// NewStreamEntry makes an entry of fields and values, alternating, which it copies.
func NewStreamEntry(id StreamID, words [][]byte) StreamEntry {
	size := 0
	for _, w := range words {
		size += binary.MaxVarintLen32 + len(w)
	}
	packed := make([]byte, 0, size)
	for _, w := range words {
		packed = append(binary.AppendUvarint(packed, uint64(len(w))), w...)
	}
	return StreamEntry{id, string(packed)}
}

// Words calls f for every field and value, alternating. They may be kept.
func (e StreamEntry) Words(f func(word string)) {
	for rest := e.packed; rest != ""; {
		var word string
		word, rest, _ = cutWord(rest)
		f(word)
	}
}

// Count is the number of fields and values together.
func (e StreamEntry) Count() (n int) {
	e.Words(func(string) { n++ })
	return n
}

// cutWord takes the first word off a packed entry; it is not ok if there is none whole.
func cutWord(packed string) (word, rest string, ok bool) {
	if len(packed) > 0 && int(packed[0]) < min(len(packed), 0x80) { // most are short
		n := int(packed[0]) + 1
		return packed[1:n], packed[n:], true
	}
	return cutLongWord(packed)
}

func cutLongWord(packed string) (word, rest string, ok bool) {
	n, shift := uint64(0), 0
	for i := 0; i < len(packed) && shift < 35; i, shift = i+1, shift+7 {
		n |= uint64(packed[i]&0x7f) << shift
		if packed[i] >= 0x80 {
			continue
		}
		if packed = packed[i+1:]; n > uint64(len(packed)) {
			return "", "", false
		}
		return packed[:n], packed[n:], true
	}
	return "", "", false
}

// text is what a stream keeps of e, and entryOf reads.
func (e StreamEntry) text() string {
	b := make([]byte, 0, 2*binary.MaxVarintLen64+len(e.packed))
	b = binary.AppendUvarint(binary.AppendUvarint(b, e.ID.Ms), e.ID.Seq)
	return Adopt(append(b, e.packed...))
}

func entryOf(text string) (e StreamEntry) {
	e.ID.Ms, text = cutNumber(text)
	e.ID.Seq, e.packed = cutNumber(text)
	return e
}

// cutNumber takes a number off a text that has one.
func cutNumber(text string) (n uint64, rest string) {
	if text[0] < 0x80 {
		return uint64(text[0]), text[1:]
	}
	for i, shift := 0, 0; ; i, shift = i+1, shift+7 {
		if n |= uint64(text[i]&0x7f) << shift; text[i] < 0x80 {
			return n, text[i+1:]
		}
	}
}

func (e StreamEntry) size() int64 { return entryCost + int64(len(e.packed)) }

// StreamLog is the container of a stream: entries in the order of their IDs, and the
// consumer groups that read them. It stays when its last entry goes. Nil is the empty
// stream, for reading.
type StreamLog struct {
	Owned
	entries texts
	groups  *cow.Sequence[*StreamGroup] // by name
	last    StreamID
	deleted StreamID
	added   int64
	version *streamVersion

	idempotence *StreamIdempotence // nil if nothing was ever to be remembered
}

// streamVersion marks the groups and consumers that one version of a stream may change
// in place, and counts that version's logical size.
type streamVersion struct{ size int64 }

// NewStreamLog is an empty stream.
func NewStreamLog() *StreamLog {
	return &StreamLog{entries: newTexts(), groups: cow.NewSequence[*StreamGroup](), version: &streamVersion{size: streamCost}}
}

// Type is Stream.
func (*StreamLog) Type() Type { return Stream }

// Size is the logical size in bytes.
func (sl *StreamLog) Size() int64 { return sl.version.size }

// Clone copies the stream in constant time.
func (sl *StreamLog) Clone() Container {
	c := *sl
	c.Owned = Owned{}
	c.entries, c.groups, c.version = sl.entries.clone(), sl.groups.Snapshot(), &streamVersion{size: sl.version.size}
	if sl.idempotence != nil {
		c.idempotence = sl.idempotence.clone()
	}
	return &c
}

// Len is the number of entries.
func (sl *StreamLog) Len() int {
	if sl == nil {
		return 0
	}
	return sl.entries.len()
}

// First is the ID of the first entry, 0-0 without any.
func (sl *StreamLog) First() StreamID {
	if sl.Len() == 0 {
		return StreamID{}
	}
	return sl.At(0).ID
}

// Top is the ID of the last entry that is there, 0-0 without any.
func (sl *StreamLog) Top() StreamID {
	if sl.Len() == 0 {
		return StreamID{}
	}
	return sl.At(sl.Len() - 1).ID
}

// Last is the greatest ID that an entry ever had, or what XSETID made of it.
func (sl *StreamLog) Last() StreamID {
	if sl == nil {
		return StreamID{}
	}
	return sl.last
}

// MaxDeleted is the greatest ID of an entry that was deleted from between others, 0-0 if
// none was: trimming the head leaves no gap.
func (sl *StreamLog) MaxDeleted() StreamID { return sl.deleted }

// Added counts the entries that were ever added.
func (sl *StreamLog) Added() int64 { return sl.added }

// SetLast sets the greatest ID, and the greatest deleted one unless it is 0-0, and how
// many entries were ever added unless that is negative. last must not be below an
// entry's.
func (sl *StreamLog) SetLast(last, deleted StreamID, added int64) {
	sl.last = last
	if !deleted.Zero() {
		sl.deleted = deleted
	}
	if added >= 0 {
		sl.added = added
	}
}

// Append adds an entry, whose ID is above Last.
func (sl *StreamLog) Append(e StreamEntry) {
	sl.entries.insert(sl.entries.len(), e.text())
	sl.last = e.ID
	sl.added++
	sl.version.size += e.size()
}

// From is the position of the first entry whose ID is not below id.
func (sl *StreamLog) From(id StreamID) int {
	if sl.Len() == 0 || id.Zero() {
		return 0
	}
	i := sl.entries.blocks.Search(func(b textBlock) bool {
		first, _, _ := b.at(0)
		return entryOf(first).ID.Compare(id) < 0
	})
	if i == 0 {
		return 0
	}
	b, i := sl.entries.find(i - 1) // which begins below id
	b.each(func(text string) bool {
		if entryOf(text).ID.Compare(id) >= 0 {
			return false
		}
		i++
		return true
	})
	return i
}

// At is the entry at a position; 0 <= i < Len.
func (sl *StreamLog) At(i int) StreamEntry { return entryOf(sl.entries.at(i)) }

// Get is the entry of an ID.
func (sl *StreamLog) Get(id StreamID) (e StreamEntry, ok bool) {
	i, ok := sl.find(id)
	if !ok {
		return e, false
	}
	return sl.At(i), true
}

func (sl *StreamLog) find(id StreamID) (i int, ok bool) {
	i = sl.From(id)
	return i, i < sl.Len() && sl.At(i).ID == id
}

// Ascend calls f for the entries from a position on, in order, until it returns false.
func (sl *StreamLog) Ascend(from int, f func(e StreamEntry) bool) {
	if sl != nil {
		sl.entries.ascend(from, func(_ int, text string) bool { return f(entryOf(text)) })
	}
}

// Descend calls f for the entries from a position down to the first, until it returns
// false.
func (sl *StreamLog) Descend(from int, f func(e StreamEntry) bool) {
	if sl != nil {
		sl.entries.descend(from, func(_ int, text string) bool { return f(entryOf(text)) })
	}
}

// Delete removes the entry of an ID and reports whether there was one.
func (sl *StreamLog) Delete(id StreamID) bool {
	i, ok := sl.find(id)
	if !ok {
		return false
	}
	e := entryOf(sl.entries.remove(i))
	sl.version.size -= e.size()
	if id.Compare(sl.deleted) > 0 {
		sl.deleted = id
	}
	return true
}

// DropFirst removes the first n entries; 0 <= n <= Len.
func (sl *StreamLog) DropFirst(n int) {
	if n == 0 {
		return
	}
	sl.entries.ascend(0, func(i int, text string) bool {
		sl.version.size -= entryOf(text).size()
		return i+1 < n
	})
	sl.entries.keep(n, sl.entries.len())
}
