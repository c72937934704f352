package command

import (
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

func keys(tx *Tx, a *Args) reply.Value {
	pattern := a.Pattern()
	if err, ok := a.Done(); !ok {
		return err
	}
	if glob.Literal(pattern) {
		if tx.DB.Peek(tx.Env, []byte(pattern)) == nil {
			return reply.Array()
		}
		return reply.Array(reply.Bulk(pattern))
	}
	var found []reply.Value
	if pattern == "*" {
		found = make([]reply.Value, 0, tx.DB.Len())
	}
	tx.DB.All(tx.Env, func(key string, _ *keyspace.Object) bool {
		tx.CountSteps(stepsPerElement)
		if pattern == "*" || tx.matches(pattern, key) {
			found = append(found, reply.Bulk(key))
		}
		return true
	})
	return reply.Array(found...)
}

// scanOptions are those of SCAN, in any order.
type scanOptions struct {
	match    string
	matches  bool
	count    int64
	only     keyspace.Type
	typed    bool // only is asked for
	withType bool
}

func readScanOptions(tx *Tx, a *Args) scanOptions {
	o := scanOptions{count: tx.dialect().scanCount}
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("MATCH"):
			o.match, o.matches = a.Pattern(), true
		case a.Word("COUNT"):
			if o.count = a.Int(); o.count < 1 {
				a.Fail(ErrSyntax)
			}
		case a.Word("TYPE"):
			o.only, o.typed = a.typeName(), true
		case a.Word("WITHTYPE"):
			o.withType = true
		default:
			a.Fail(ErrSyntax)
		}
	}
	return o
}

// typeName reads the name of a type, in any case; None, which no key has, of a name that this version does not know.
func (a *Args) typeName() keyspace.Type {
	word := a.Bytes()
	for t := keyspace.String; t <= keyspace.Array; t++ {
		if EqualFold(word, ascii.Upper(t.String())) {
			return t
		}
	}
	return keyspace.None
}

// cursor reads a cursor as Redis does, with strtoul of C: an unsigned number of 64 bits up to
// a zero byte, where the empty word is 0 and a sign is taken, a minus modulo 2^64.
func (tx *Tx) cursor(word []byte) (uint64, bool) {
	if len(word) == 0 {
		return 0, true
	}
	digits, _, _ := strings.Cut(string(word), "\x00")
	if digits == "" {
		return 0, true
	}
	if digits[0] == '+' || digits[0] == '-' {
		digits = digits[1:]
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if word[0] == '-' {
		n = -n
	}
	return n, err == nil
}

func scan(tx *Tx, a *Args) reply.Value {
	cursor, ok := tx.cursor(a.Bytes())
	if !ok {
		return ErrCursor
	}
	o := readScanOptions(tx, a)
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.lookAt(min(o.count, int64(tx.DB.Len()))) {
		return reply.Nil()
	}
	var found []reply.Value
	next := tx.DB.Scan(tx.Env, cursor, int(o.count), func(key string, v *keyspace.Object) {
		tx.looked(1)
		if o.typed && v.Type() != o.only || o.matches && !tx.matches(o.match, key) {
			return
		}
		found = append(found, reply.Bulk(key))
		if o.withType {
			found = append(found, reply.Bulk(v.Type().String()))
		}
	})
	return reply.Array(reply.Bulk(strconv.FormatUint(next, 10)), reply.Array(found...))
}
