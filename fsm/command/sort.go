package command

import (
	"bytes"
	"github.com/trireme-dev/trireme/fsm/acl"

	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// sortRows are SORT in its two forms.
func sortRows() []Command {
	const (
		options    = "SORT key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]"
		complexity = "O(n + m log m), where n is the number of elements and m that of those sorted"
	)
	return []Command{
		{Name: "sort", Arity: -2, Flags: Write | DenyOOM | MayRead | ReportsMiss, Keys: keyPlaces{First: 1, Last: 1, Step: 1, Find: sortKeys}.uses(one(roAccess, 1), unknownKeys(roAccess), unknownKeys(owUpdate)), Cost: costSort, Counts: answered, Doc: Doc{Version: "1.0.0", Complexity: complexity,
			Syntax:  options + " [STORE destination]",
			Summary: "Sorts the elements of a list, a set or a sorted set, by themselves or by what keys of their names hold, and returns or stores them."},
			Reads:  func(argv [][]byte) bool { return len(sortKeys(argv)) == 1 },
			Access: Access{Categories: acl.Set | acl.SortedSet | acl.List | acl.Dangerous, NotCategories: acl.Keyspace}, Run: sortKey},
		{Name: "sort_ro", Arity: -2, Flags: ReadOnly | ReadOnlyUser, Keys: firstKey.uses(one(roAccess, 1), unknownKeys(roAccess)), Cost: costSort, Doc: Doc{Version: "7.0.0", Complexity: complexity,
			Syntax: "SORT_RO" + options[len("SORT"):], Summary: "Sorts as SORT does, and stores nothing."},
			Access: Access{Categories: acl.Set | acl.SortedSet | acl.List | acl.Dangerous, NotCategories: acl.Keyspace}, Run: sortKeyRO},
	}
}

// sortKeys are the places of the key to sort and of the last destination.
func sortKeys(argv [][]byte) []int {
	keys := []int{1}
	for i := 2; i < len(argv); i++ {
		switch {
		case EqualFold(argv[i], "LIMIT"):
			i += 2
		case EqualFold(argv[i], "GET") || EqualFold(argv[i], "BY"):
			i++
		case EqualFold(argv[i], "STORE") && i+1 < len(argv):
			i++
			keys = append(keys[:1], i)
		}
	}
	return keys
}

var (
	errSortBy  = reply.Error("ERR BY option of SORT denied due to insufficient ACL permissions")
	errSortGet = reply.Error("ERR GET option of SORT denied due to insufficient ACL permissions")
	errWeights = reply.Error("ERR One or more scores can't be converted into double")
)

// sortOptions are the words of a sort.
type sortOptions struct {
	alpha, descending bool
	by                *keyPattern // nil sorts by the elements themselves
	unsorted          bool        // BY a pattern without an asterisk
	start, count      int64       // of the elements to give; a negative count means all
	get               []keyPattern
	destination       []byte
	stores            bool
}

// sortOptions reads the words behind the key. Patterns name keys that nobody can judge
// beforehand, so they are only for users who may read every key.
func (tx *Tx) sortOptions(a *Args, mayStore bool) (o sortOptions) {
	o.count = -1
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("ASC"):
			o.descending = false
		case a.Word("DESC"):
			o.descending = true
		case a.Word("ALPHA"):
			o.alpha = true
		case a.Left() > 2 && a.Word("LIMIT"):
			o.start, o.count = a.Int(), a.Int()
		case mayStore && a.Left() > 1 && a.Word("STORE"):
			o.destination, o.stores = a.Bytes(), true
		case a.Left() > 1 && a.Word("BY"):
			o.setBy(tx, a)
		case a.Left() > 1 && a.Word("GET"):
			pattern := a.Bytes()
			o.get = append(o.get, newKeyPattern(pattern))
			if !tx.readsAllKeys(a) {
				a.Fail(errSortGet)
			}
			tx.locksPattern(a, pattern)
		default:
			a.Fail(ErrSyntax)
		}
	}
	return o
}

func (o *sortOptions) setBy(tx *Tx, a *Args) {
	pattern := a.Bytes()
	if bytes.IndexByte(pattern, '*') < 0 {
		o.unsorted = true
		return
	}
	p := newKeyPattern(pattern)
	if o.by = &p; !tx.readsAllKeys(a) {
		a.Fail(errSortBy)
	}
	tx.locksPattern(a, pattern)
}

// locksPattern refuses a pattern that names keys which the script can't have declared.
func (tx *Tx) locksPattern(a *Args, pattern []byte) {
	if bytes.IndexByte(pattern, '*') < 0 {
		return
	}
	if refusal := tx.declaredKeys().refuseKey(pattern); refusal != nil {
		a.Fail(*refusal)
	}
}

// readsAllKeys reports whether the user may read every key by the command whose arguments
// a holds.
func (tx *Tx) readsAllKeys(a *Args) bool {
	return tx.User.Free() || tx.User.ReadsAllKeys(tx.call(tx.Table.Find(a.argv), a.argv))
}

func sortKey(tx *Tx, a *Args) reply.Value { return tx.sort(a, true) }

func sortKeyRO(tx *Tx, a *Args) reply.Value { return tx.sort(a, false) }

func (tx *Tx) sort(a *Args, mayStore bool) reply.Value {
	key := a.Bytes()
	o := tx.sortOptions(a, mayStore)
	if err, ok := a.Done(); !ok {
		return err
	}
	source := tx.DB.Find(tx.Env, key)
	switch source.Type() {
	case keyspace.None, keyspace.List, keyspace.Set, keyspace.SortedSet:
	default:
		return ErrWrongType
	}
	if o.unsorted && source.Type() == keyspace.Set && (o.stores || tx.Origin == Script) {
		o.unsorted, o.alpha, o.by = false, true, nil // a result that goes on needs an order
	}
	elements, ok := o.sorted(tx, source)
	if !ok {
		return errWeights
	}
	if o.stores {
		return o.store(tx, elements)
	}
	return o.reply(tx, elements)
}

// reply lists the elements, or for each what was asked for.
func (o *sortOptions) reply(tx *Tx, elements []string) reply.Value {
	out := make([]reply.Value, 0, len(elements)*max(1, len(o.get)))
	for _, element := range elements {
		if refusal := tx.overspent(tx.Table.Row("sort")); refusal != nil {
			return *refusal
		}
		if o.get == nil {
			out = append(out, reply.Bulk(element))
		}
		for i := range o.get {
			v := reply.Nil()
			if text, ok := o.get[i].look(tx, element); ok {
				v = reply.Bulk(text)
			}
			out = append(out, v)
		}
	}
	return reply.Array(out...)
}

// store makes a list of the elements, or of what was asked for; what is missing becomes
// an empty string.
func (o *sortOptions) store(tx *Tx, elements []string) reply.Value {
	list := keyspace.NewElements()
	for _, element := range elements {
		if refusal := tx.overspent(tx.Table.Row("sort")); refusal != nil {
			return *refusal
		}
		if o.get == nil {
			list.Insert(list.Len(), element)
		}
		for i := range o.get {
			text, _ := o.get[i].look(tx, element)
			list.Insert(list.Len(), text)
		}
	}
	return tx.replaceWith(o.destination, list, list.Len(), ListEvent, "sortstore")
}
