package command

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// keyFlags describe the use that a command makes of a key, in the words of COMMAND INFO: RO, RW, OW
// (overwrites without a look at the old value) or RM, then access, insert, update, delete.
// A user needs the right to read for access and the right to write for the other three.
type keyFlags string

// The uses of keys that there are.
const (
	ro             keyFlags = "RO" // looks at metadata only, such as a length
	roAccess       keyFlags = "RO access"
	rwAccess       keyFlags = "RW access"
	rwUpdate       keyFlags = "RW update"
	rwInsert       keyFlags = "RW insert"
	rwDelete       keyFlags = "RW delete"
	rwAccessUpdate keyFlags = "RW access update"
	rwAccessInsert keyFlags = "RW access insert"
	rwAccessDelete keyFlags = "RW access delete"
	owUpdate       keyFlags = "OW update"
	owInsert       keyFlags = "OW insert"
	rmDelete       keyFlags = "RM delete"
	notKey         keyFlags = "not_key" // a channel
)

const (
	keyR  = acl.ReadKey
	keyW  = acl.WriteKey
	keyRW = acl.ReadKey | acl.WriteKey
)

// rights returns the rights that such a use of a key needs. Reading metadata needs the right to read.
func (f keyFlags) rights() (need acl.Access) {
	for _, word := range ascii.Fields(string(f))[1:] {
		if word == "access" {
			need |= keyR
		} else {
			need |= keyW
		}
	}
	if need == 0 {
		return keyR
	}
	return need
}

// keyUse is one of the places where a command names keys, and what it does with them, in
// the terms of COMMAND INFO.
type keyUse struct {
	does keyFlags
	// rights replaces the rights that follow from the flags where these say too little (0 = as the flags say).
	rights acl.Access
	// from is the position of the first key; 0 after word, from there on; unknown
	// says that neither is known.
	from    int
	word    string
	unknown bool
	// last and step are those of a KeySpec, but counted from the first key; limit divides
	// what is left, as in XREAD. counted says that the word at from is a number of keys.
	last, step, limit int
	counted           bool
}

// one is a single key at a place.
func one(does keyFlags, at int) keyUse { return keyUse{does: does, from: at, step: 1} }

// rest are keys from a place to the last word, or to that before it and so on.
func rest(does keyFlags, at, last, step int) keyUse {
	return keyUse{does: does, from: at, last: last, step: step}
}

// counted are keys after their number, which is at a place.
func counted(does keyFlags, at int) keyUse {
	return keyUse{does: does, from: at, step: 1, counted: true}
}

// after are keys after a word, which is looked for from a place on.
func after(does keyFlags, word string, start int) keyUse {
	return keyUse{does: does, word: word, from: start, step: 1}
}

// unknownKeys are keys that the words do not name, like those of SORT BY.
func unknownKeys(does keyFlags) keyUse { return keyUse{does: does, unknown: true} }

// doesWith returns the use that a call makes of the key number i that it names.
func (c *Command) doesWith(argv [][]byte, i int) keyFlags {
	if c.Varies != nil {
		return c.Varies(argv)
	}
	return c.use(i).does
}

// EachRead calls f for the keys that a call names and whose values it reads, as far as its words tell: not for those that it only
// replaces or removes, or of which it reads a length or a deadline.
func (t *Table) EachRead(argv [][]byte, f func(key []byte)) {
	c := t.Find(argv)
	if c == nil || !c.Takes(len(argv)) || c.Name == "rename" || c.Name == "renamenx" || c.Name == "copy" { // these share the value
		return
	}
	for i, at := range c.Keys.Positions(argv) {
		does := c.doesWith(argv, i)
		if c.Cost == costValues && does != owUpdate && does != owInsert || strings.Contains(string(does), " access") {
			f(argv[at])
		}
	}
}

// access returns the rights that a user needs to the key number i that a call names.
func (c *Command) access(argv [][]byte, i int) acl.Access {
	use := c.use(i)
	switch {
	case use == nil:
		return keyRW
	case use.rights != 0:
		return use.rights
	}
	return c.doesWith(argv, i).rights()
}

// use is the use of the key number i; the last one is for all that follow. It is nil for a
// row without keys.
func (c *Command) use(i int) *keyUse {
	last := len(c.Keys.uses) - 1
	if last < 0 {
		return nil
	}
	if i = min(i, last); c.Keys.uses[i].unknown { // those of SORT: its words name no key but the destination
		i = last
	}
	return &c.Keys.uses[i]
}

// setDoes: SET reads the old value only if it answers or compares it.
func setDoes(argv [][]byte) keyFlags {
	for _, a := range argv[min(3, len(argv)):] {
		for _, word := range []string{"GET", "IFEQ", "IFNE", "IFDEQ", "IFDNE"} {
			if EqualFold(a, word) {
				return rwAccessUpdate
			}
		}
	}
	return owUpdate
}

// bitfieldDoes: BITFIELD with GET alone reads.
func bitfieldDoes(argv [][]byte) keyFlags {
	if onlyGets(argv) {
		return roAccess
	}
	return rwAccessUpdate
}

// statusSet is words as a set of status replies.
func statusSet(words string) reply.Value {
	var all []reply.Value
	for _, w := range ascii.Fields(words) {
		all = append(all, reply.Status(w))
	}
	return reply.Set(all...)
}

// describe is the place as COMMAND INFO reports it.
func (u *keyUse) describe(varies bool) reply.Value {
	does, kind, spec := string(u.does), "index", reply.Map(reply.Bulk("index"), reply.Int(int64(u.from)))
	if varies {
		does += " variable_flags"
	}
	find, keys := "range", reply.Map(reply.Bulk("lastkey"), reply.Int(int64(u.last)), reply.Bulk("keystep"), reply.Int(int64(u.step)), reply.Bulk("limit"), reply.Int(int64(u.limit)))
	switch {
	case u.unknown:
		kind, spec, find, keys = "unknown", reply.Map(), "unknown", reply.Map()
	case u.word != "":
		kind, spec = "keyword", reply.Map(reply.Bulk("keyword"), reply.Bulk(u.word), reply.Bulk("startfrom"), reply.Int(int64(u.from)))
	case u.counted:
		find, keys = "keynum", reply.Map(reply.Bulk("keynumidx"), reply.Int(0), reply.Bulk("firstkey"), reply.Int(1), reply.Bulk("keystep"), reply.Int(int64(u.step)))
	}
	part := func(kind string, spec reply.Value) reply.Value {
		return reply.Map(reply.Bulk("type"), reply.Bulk(kind), reply.Bulk("spec"), spec)
	}
	return reply.Map(reply.Bulk("flags"), statusSet(does), reply.Bulk("begin_search"), part(kind, spec), reply.Bulk("find_keys"), part(find, keys))
}

// overcounted reports whether a number of keys in argv is below 1 or greater than the words that follow it: COMMAND GETKEYS
// finds none then, as in Redis. Rights are judged of those that are there.
func (ks KeySpec) overcounted(argv [][]byte) bool {
	for _, use := range ks.uses {
		if !use.counted || use.from >= len(argv) {
			continue
		}
		n, ok := leadingInt(argv[use.from])
		if left := len(argv) - use.from - 1; !ok || n < 1 || n > int64(left/max(use.step, 1)) {
			return true
		}
	}
	return false
}
