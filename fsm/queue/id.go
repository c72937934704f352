package queue

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/wire"
)

// ID is the identity of a message: Seq is its place in the order of all messages ever made, Salt is random, so that an
// id can't be guessed. As text it is opaque to clients.
type ID struct{ Seq, Salt uint64 }

const (
	messagePrefix = "msg_"
	base58        = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	digits58      = 11 // of 64 bits
)

// String is the id as clients see it: msg_ and 22 characters.
func (id ID) String() string {
	b := make([]byte, len(messagePrefix)+2*digits58)
	copy(b, messagePrefix)
	putBase58(b[len(messagePrefix):], id.Seq)
	putBase58(b[len(messagePrefix)+digits58:], id.Salt)
	return string(b)
}

// IsZero reports whether id names no message.
func (id ID) IsZero() bool { return id == ID{} }

// ParseID reads what String wrote; false for every other text.
func ParseID(s string) (id ID, ok bool) {
	rest, found := strings.CutPrefix(s, messagePrefix)
	if !found || len(rest) != 2*digits58 {
		return ID{}, false
	}
	seq, ok := parseBase58(rest[:digits58])
	salt, ok2 := parseBase58(rest[digits58:])
	return ID{seq, salt}, ok && ok2
}

func putBase58(b []byte, v uint64) {
	for i := digits58 - 1; i >= 0; i-- {
		b[i] = base58[v%58]
		v /= 58
	}
}

func parseBase58(s string) (v uint64, ok bool) {
	for i := range len(s) {
		d := strings.IndexByte(base58, s[i])
		hi, lo := bits.Mul64(v, 58)
		sum, carry := bits.Add64(lo, uint64(d), 0)
		if d < 0 || hi != 0 || carry != 0 {
			return 0, false
		}
		v = sum
	}
	return v, true
}

// Fields codes the value in its wire format.
func (id *ID) Fields(c *wire.Codec) {
	c.Uvarint(&id.Seq)
	c.Uvarint(&id.Salt)
}

// Stamp is a place in an order by time: dead letters and events are named by it. As text it is <unix-ms>-<n>.
type Stamp struct {
	// At is in unix milliseconds.
	At int64
	// Seq tells apart what has the same time.
	Seq uint64
}

// Fields codes the value in its wire format.
func (s *Stamp) Fields(c *wire.Codec) {
	c.Varint(&s.At)
	c.Uvarint(&s.Seq)
}

// String is the stamp as clients see it, in dead-letter ids and cursors.
func (s Stamp) String() string {
	return strconv.FormatInt(s.At, 10) + "-" + strconv.FormatUint(s.Seq, 10)
}

// ParseStamp reads what String wrote; false for every other text.
func ParseStamp(s string) (t Stamp, ok bool) {
	at, seq, found := strings.Cut(s, "-")
	a, err := strconv.ParseInt(at, 10, 64)
	n, err2 := strconv.ParseUint(seq, 10, 64)
	if !found || err != nil || err2 != nil || a < 0 {
		return Stamp{}, false
	}
	return Stamp{a, n}, true
}
