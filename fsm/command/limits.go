package command

import (
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// Limits bound what one write may make; they are replicated, so every node refuses
// alike. 0 = unlimited.
type Limits struct {
	// MaxKey is the most bytes of a key that a write names.
	MaxKey int64
	// MaxRecord is the most logical bytes of the value of one key.
	MaxRecord int64
	// MaxPending is the most entries that XREADGROUP lets one consumer of a stream's group
	// have without an acknowledgement.
	MaxPending int64
	// MaxWork is the most steps of work of one request; 0 is DefaultMaxWork, Unlimited none.
	MaxWork int64
	// MaxScript is the most steps of the scripts of a transaction or a row; 0 is
	// DefaultMaxScript, Unlimited none.
	MaxScript int64
}

// exceeds is the refusal of a write that would pass a limit, nil for any other. It goes
// by the sizes of the arguments and of the values before: a record never gets larger
// than the limit but by what its logical overhead adds.
func (l *Limits) exceeds(tx *Tx, c *Command, argv [][]byte) *reply.Value {
	if c.Flags&Write == 0 || (l.MaxKey <= 0 && l.MaxRecord <= 0) {
		return nil
	}
	size, longest := int64(0), 0
	for _, word := range argv[1:] {
		size, longest = size+int64(len(word)), max(longest, len(word))
	}
	if l.MaxKey > 0 && int64(longest) > l.MaxKey && c.makesKeys() {
		for _, i := range c.Keys.Positions(argv) {
			if n := int64(len(argv[i])); n > l.MaxKey {
				return ptr(passed("max key size", "max-key-size", l.MaxKey, n))
			}
		}
	}
	if l.MaxRecord <= 0 || c.Flags&DenyOOM == 0 {
		return nil
	}
	size = max(size, c.reach(argv))
	if tx.DB == nil || tx.DB.Used()+size <= l.MaxRecord || c.Flags&(Overwrites|AddsRecord) != 0 {
		return l.record(size)
	}
	before := int64(0)
	for _, i := range c.Keys.Positions(argv) {
		if i < len(argv) {
			before = max(before, tx.DB.Peek(tx.Env, argv[i]).Size())
		}
	}
	return l.record(before + size)
}

func (l *Limits) record(size int64) *reply.Value {
	if size <= l.MaxRecord {
		return nil
	}
	return ptr(passed("max single record size", "max-record-size", l.MaxRecord, size))
}

// makesKeys reports whether a write may leave a key behind that was not there.
func (c *Command) makesKeys() bool {
	return c.Flags&(DenyOOM|MakesKeys) != 0
}

// reach is the length of a string that a write at an offset makes, 0 for other writes and for
// offsets that the command refuses.
func (c *Command) reach(argv [][]byte) int64 {
	if c.Reach == nil || !c.Takes(len(argv)) {
		return 0
	}
	return c.Reach(argv)
}

// offsetOf is the offset of a write into a string in the words of SETRANGE and SETBIT.
func offsetOf(argv [][]byte) (offset int64, ok bool) {
	offset, ok = ParseInt(argv[2])
	return offset, ok && 0 <= offset && offset <= 8*maxString
}

// setRangeReach is the length of what SETRANGE makes.
func setRangeReach(argv [][]byte) int64 {
	if offset, ok := offsetOf(argv); ok {
		return offset + int64(len(argv[3]))
	}
	return 0
}

// setBitReach is the length of what SETBIT makes.
func setBitReach(argv [][]byte) int64 {
	if offset, ok := offsetOf(argv); ok {
		return offset/8 + 1
	}
	return 0
}

// passed is the error of a limit: what it is, how far it was passed, where it is set.
func passed(what, setting string, limit, actual int64) reply.Value {
	return reply.Error("ERR " + what + " exceeded. Limit: " + strconv.FormatInt(limit, 10) + " bytes, Actual: " +
		strconv.FormatInt(actual, 10) + " bytes. Setting: " + setting)
}

// overMemory is the refusal of a command that would grow a state which is over its
// memory limit: Redis's words, over HTTP the gateway's with the figures. If it is the database
// that is over its own limit, both name it.
func (tx *Tx) overMemory() reply.Value { return tx.overMemoryBy(0) }

// overMemoryBy is overMemory for what would add so many bytes.
func (tx *Tx) overMemoryBy(more int64) reply.Value {
	used := tx.DB.Used() + more
	http, own := tx.Origin == OriginHTTP, tx.OwnMax > 0 && used+tx.OwnOther > tx.OwnMax
	switch {
	case http && own:
		return reply.Error(capacity + limitAndActual(tx.OwnMax, used+tx.OwnOther) + ". Setting: maxMemory of database " + tx.Database)
	case http:
		return reply.Error(capacity + limitAndActual(tx.MaxMemory, used+tx.OtherMemory) + ". Setting: maxMemory")
	case own:
		return reply.Error(ownOOM + tx.Database + limitAndActual(tx.OwnMax, used+tx.OwnOther))
	}
	return ErrOOM
}

func limitAndActual(limit, actual int64) string {
	return ". Limit: " + strconv.FormatInt(limit, 10) + " bytes, Actual: " + strconv.FormatInt(actual, 10) + " bytes"
}

const (
	capacity = "ERR DB capacity quota exceeded"
	ownOOM   = "OOM command not allowed when used memory > 'maxmemory' of database "
)

// OverMemory reports whether a reply says that the command was not run for want of memory.
func OverMemory(v reply.Value) bool {
	return v.Equal(ErrOOM) || v.IsError() && (strings.HasPrefix(v.Text(), capacity) || strings.HasPrefix(v.Text(), ownOOM))
}
