package command

import (
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// prefixMemory counts the keys that begin alike, and their logical size in bytes.
type prefixMemory struct {
	name        string
	keys, bytes int64
}

// prefixOptions are those of MEMORY PREFIXES, in any order.
type prefixOptions struct {
	prefix, separator string
	count             int64
}

func readPrefixOptions(tx *Tx, a *Args) prefixOptions {
	o := prefixOptions{separator: ":", count: tx.dialect().scanCount}
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("PREFIX"):
			o.prefix = a.String()
		case a.Word("SEPARATOR"):
			if o.separator = a.String(); o.separator == "" {
				a.Fail(ErrSyntax)
			}
		case a.Word("COUNT"):
			if o.count = a.Int(); o.count < 1 {
				a.Fail(ErrSyntax)
			}
		default:
			a.Fail(ErrSyntax)
		}
	}
	return o
}

// group returns what a key is counted under: its beginning up to the first separator after the prefix, or the prefix if
// there is none. Keys that do not begin with the prefix are not counted.
func (o *prefixOptions) group(key string) (name string, counts bool) {
	rest, counts := strings.CutPrefix(key, o.prefix)
	if !counts {
		return "", false
	}
	if at := strings.Index(rest, o.separator); at >= 0 {
		return key[:len(o.prefix)+at+len(o.separator)], true
	}
	return o.prefix, true
}

// memoryPrefixes passes as many keys as SCAN does with the same words, and replies sums in place of names: whoever calls
// adds up those of one name over all calls.
func memoryPrefixes(tx *Tx, a *Args) reply.Value {
	cursor, ok := tx.cursor(a.Bytes())
	if !ok {
		return ErrCursor
	}
	o := readPrefixOptions(tx, a)
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.lookAt(min(o.count, int64(tx.DB.Len()))) {
		return reply.Nil()
	}
	var sums []prefixMemory // in the order in which they are met
	at := map[string]int{}
	next := tx.DB.Scan(tx.Env, cursor, int(o.count), func(key string, v *keyspace.Object) {
		tx.looked(1)
		if !tx.spendLooks(int64(len(key))) {
			return
		}
		name, counts := o.group(key)
		if !counts {
			return
		}
		i, known := at[name]
		if !known {
			i = len(sums)
			name = strings.Clone(name)
			at[name] = i
			sums = append(sums, prefixMemory{name: name})
		}
		sums[i].keys++
		sums[i].bytes += v.Cost([]byte(key))
	})
	found := make([]reply.Value, 0, len(sums))
	for _, s := range sums {
		found = append(found, reply.Array(reply.Bulk(s.name), reply.Int(s.keys), reply.Int(s.bytes)))
	}
	return reply.Array(reply.Bulk(strconv.FormatUint(next, 10)), reply.Array(found...))
}
