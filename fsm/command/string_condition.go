package command

import (
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// condition is a precondition of a write.
type condition uint8

const (
	always condition = iota
	ifMissing
	ifExists
	ifEqual
	ifUnequal
	ifDigestEqual
	ifDigestUnequal
)

var (
	errDigest    = reply.Error("ERR must be exactly 16 hexadecimal characters")
	errCondition = reply.Error("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE")
)

// readComparison reads the name of a condition on the value; always if none is
// next.
func readComparison(a *Args) condition {
	switch {
	case a.Word("IFEQ"):
		return ifEqual
	case a.Word("IFNE"):
		return ifUnequal
	case a.Word("IFDEQ"):
		return ifDigestEqual
	case a.Word("IFDNE"):
		return ifDigestUnequal
	}
	return always
}

// digestSize is the length of a digest in hexadecimal digits.
const digestSize = 16

func checkDigest(a *Args, c condition, match []byte) {
	if (c == ifDigestEqual || c == ifDigestUnequal) && len(match) != digestSize {
		a.Fail(errDigest)
	}
}

// compares reports whether the condition looks at the value, and so needs a string.
func (c condition) compares() bool { return c >= ifEqual }

// holds reports whether the condition holds for o, which is nil if the key is
// missing: then nothing is equal to it.
func (c condition) holds(o *keyspace.Object, match []byte) bool {
	switch c {
	case ifMissing:
		return o == nil
	case ifExists:
		return o != nil
	case ifEqual:
		return o != nil && o.Text() == string(match)
	case ifUnequal:
		return o == nil || o.Text() != string(match)
	case ifDigestEqual:
		return o != nil && ascii.EqualFold(digestOf(o.Text()), string(match))
	case ifDigestUnequal:
		return o == nil || !ascii.EqualFold(digestOf(o.Text()), string(match))
	}
	return true
}

// digestOf is XXH3-64 with seed 0 in lower-case hexadecimal.
func digestOf(text string) string {
	hex := strconv.FormatUint(xxh3.HashString(text), 16)
	return strings.Repeat("0", digestSize-len(hex)) + hex
}

func digest(tx *Tx, a *Args) reply.Value {
	key := a.Bytes()
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	switch {
	case !ok:
		return ErrWrongType
	case o == nil:
		return reply.Nil()
	}
	return reply.Bulk(digestOf(o.Text()))
}

// delEx deletes a key of any type, or under a condition a string.
func delEx(tx *Tx, a *Args) reply.Value {
	key, cond, match := a.Bytes(), always, []byte(nil)
	if a.Left() > 0 {
		if a.Left() != 2 {
			return ErrArity("delex")
		}
		if cond = readComparison(a); cond == always {
			return errCondition
		}
		match = a.Bytes()
		checkDigest(a, cond, match)
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	o, ok := tx.findText(key)
	if cond.compares() && !ok {
		return ErrWrongType
	}
	if o == nil || !cond.holds(o, match) {
		return reply.Int(0)
	}
	tx.remove(key)
	return reply.Int(1)
}
