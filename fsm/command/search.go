package command

import (
	"slices"

	"fmt"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// Search gives the SEARCH family the definitions and the indexes of a database.
type Search struct {
	// Store are the definitions of the database, Database is its number.
	Store    *search.Store
	Database uint64
	// Index are the node's own indexes: nil in an apply, whose result may not depend on them.
	Index search.Index
	// Done closes when the reply is no longer wanted.
	Done <-chan struct{}
}

// searchRows is the SEARCH family of the reference service. Definitions are replicated; what
// is found comes from the indexes of the node that answers, so such rows are no reads of the
// state: they run on a view, never in the log.
func searchRows() []Command {
	return slices.Concat(searchDefinitions(), searchAliases(), searchQueries())
}

// Words that several rows share.
const (
	searchVersion = "extension"
)

// searchDefinitions are the rows that make, describe and drop indexes.
func searchDefinitions() []Command {
	const (
		ask = ReadOnlyUser
	)
	return []Command{
		{Name: "search.create", Arity: -8, Flags: Write | DenyOOM | NoScript, Cost: costConstant, Doc: Doc{Version: searchVersion, Complexity: "O(1); the keys are indexed in the background",
			Syntax:  "SEARCH.CREATE index [SKIPINITIALSCAN] [EXISTSOK] ON JSON | HASH | STRING PREFIX count prefix [prefix ...] | STREAM stream [LANGUAGE language] SCHEMA field type [FAST] [NOTOKENIZE] [NOSTEM] [FROM path] [field type ...]",
			Summary: "Defines a search index over keys with some prefixes, or over the entries of a stream."}, Run: searchCreate},
		{Name: "search.describe", Arity: 2, Flags: ask, Access: Access{Categories: acl.Read}, Cost: costConstant, Doc: Doc{Version: searchVersion, Complexity: "O(f), where f is the number of fields",
			Syntax: "SEARCH.DESCRIBE index", Summary: "Describes an index and its state on the node that answers; null if there is none. The state is ready, building, or suspended: then it would take more memory than its database or the node has for indexes, and suspended says which limit that is."}, Run: searchDescribe},
		{Name: "search.drop", Arity: 2, Flags: Write | NoScript, Cost: costConstant, Doc: Doc{Version: searchVersion, Complexity: "O(1)",
			Syntax: "SEARCH.DROP index", Summary: "Removes an index by its own name and returns how many there were. Keys and aliases stay."}, Run: searchDrop},
		{Name: "search.listindexes", Arity: -1, Flags: ask | ReadOnly, Cost: costConstant, Doc: Doc{Version: searchVersion, Complexity: "O(n), where n is the number of indexes",
			Syntax: "SEARCH.LISTINDEXES [MATCH pattern] [LIMIT count] [OFFSET count]", Summary: "Lists indexes by name with the type of their keys."}, Run: searchListIndexes},
		{Name: "search.reindex", Arity: 2, Flags: Write | NoScript, Cost: costConstant, Doc: Doc{Version: searchVersion, Complexity: "O(1); the keys are indexed in the background",
			Syntax: "SEARCH.REINDEX index", Summary: "Has every node build an index anew from the keys, also one that is suspended for want of memory, and returns 1, or 0 if there is none."}, Run: searchReindex},
		{Name: "search.waitindexing", Arity: 2, Flags: ask, Access: Access{Categories: acl.Read}, Cost: costIndex, Doc: Doc{Version: searchVersion, Complexity: "O(1)",
			Syntax: "SEARCH.WAITINDEXING index", Summary: "Waits until the node that answers has indexed everything that was written before, and returns 1; 0 if there is no index. For an index that is suspended it replies the error that searches of it reply."}, Run: searchWait},
	}
}

// searchAliases are the rows of other names of indexes.
func searchAliases() []Command {
	const (
		ask = ReadOnlyUser
	)
	return []Command{
		{Name: "search.aliasadd", Arity: 3, Flags: Write | NoScript, Cost: costConstant, Doc: Doc{Version: searchVersion, Complexity: "O(1)",
			Syntax: "SEARCH.ALIASADD alias index", Summary: "Points an alias at an index, which need not exist, and returns 1 if the alias is new, 2 if it was there."}, Run: searchAliasAdd},
		{Name: "search.aliasdel", Arity: 2, Flags: Write | NoScript, Cost: costConstant, Doc: Doc{Version: searchVersion, Complexity: "O(1)",
			Syntax: "SEARCH.ALIASDEL alias", Summary: "Removes an alias and returns how many there were."}, Run: searchAliasDel},
		{Name: "search.listaliases", Arity: 1, Flags: ask | ReadOnly, Cost: costConstant, Doc: Doc{Version: searchVersion, Complexity: "O(n), where n is the number of aliases",
			Syntax: "SEARCH.LISTALIASES", Summary: "Lists aliases with the indexes they point at."}, Run: searchListAliases},
	}
}

// searchQueries are the rows that find documents.
func searchQueries() []Command {
	const (
		ask = ReadOnlyUser
	)
	return []Command{
		{Name: "search.aggregate", Arity: 4, Flags: ask, Access: Access{Categories: acl.Read}, Cost: costIndex, Doc: Doc{Version: searchVersion, Complexity: "O(n), where n is the number of documents that match",
			Syntax: "SEARCH.AGGREGATE index filter aggregations", Summary: "Computes aggregations of the documents that match a filter; null if there is no index."}, Run: searchAggregate},
		{Name: "search.count", Arity: 3, Flags: ask, Access: Access{Categories: acl.Read}, Cost: costIndex, Doc: Doc{Version: searchVersion, Complexity: "O(n), where n is the number of documents that match",
			Syntax: "SEARCH.COUNT index filter", Summary: "Counts the documents that match a filter; -1 if there is no index."}, Run: searchCount},
		{Name: "search.query", Arity: -3, Flags: ask, Access: Access{Categories: acl.Read}, Cost: costIndex, Doc: Doc{Version: searchVersion, Complexity: "O(n log k), where n is the number of documents that match and k the number returned",
			Syntax:  "SEARCH.QUERY index filter [LIMIT count] [OFFSET count] [ORDERBY field [ASC | DESC] | SCOREFUNC [SCOREMODE mode] [COMBINEMODE mode] FIELDVALUE field [MODIFIER modifier] [FACTOR factor] [MISSING value] ...] [NOCONTENT | SELECT count field [field ...]] [HIGHLIGHT FIELDS count field [field ...] [TAGS open close]]",
			Summary: "Finds documents by a filter in JSON, the best first; null if there is no index."}, Run: searchQuery},
	}
}

var (
	errSearchHere  = "cannot run together with writes: it reads the index of the node that answers, which no other node sees. Send it in a request of its own"
	errSearchLimit = reply.Error("ERR limit should be a positive number less than 1000")
)

func errIndexExists(name string) reply.Value {
	return reply.Error("ERR Index " + clean(name) + " already exists")
}

// searchError is an error of the index for the client.
func searchError(err error) reply.Value { return reply.Error("ERR " + clean(err.Error())) }

// definitions are the search indexes of the database.
func (tx *Tx) definitions() *search.Store {
	if tx.Search.Store == nil { // tests of single commands have none
		tx.Search.Store = search.NewStore()
	}
	return tx.Search.Store
}

// changedIndexes tells this node's indexes that definitions have changed.
func (tx *Tx) changedIndexes() {
	tx.Notifications = append(tx.Notifications, env.Notification{Kind: env.SearchChanged, DB: tx.Database})
}

// findSearch returns the index of a name or alias for a command that reads it: nil if there is none. The refusal says that the
// user may not read all of its keys, or that the command runs where it may not.
func (tx *Tx) findSearch(a *Args, name string) (*search.Definition, *reply.Value) {
	d := tx.definitions().Find(name)
	if d == nil {
		return nil, nil
	}
	if refusal := tx.mayRead(a, d); refusal != nil {
		return nil, refusal
	}
	if tx.Search.Index == nil {
		return nil, ptr(reply.Error("ERR " + string(a.argv[0]) + " " + errSearchHere))
	}
	return d, nil
}

// mayRead is the refusal of a user who may not read every key of an index.
func (tx *Tx) mayRead(a *Args, d *search.Definition) *reply.Value {
	if tx.User.Free() {
		return nil
	}
	c := tx.Table.Find(a.argv)
	for _, p := range d.Prefixes {
		call := tx.call(c, a.argv)
		allowed := false
		if d.Source == search.Stream {
			call.Keys = append(call.Keys, acl.Key{Name: p, Access: acl.ReadKey})
			denied, _ := tx.User.Permit(call)
			allowed = denied == acl.Permitted
		} else {
			allowed = tx.User.ReadsPrefix(call, p)
		}
		if !allowed {
			return ptr(refusal(tx, c, acl.DeniedKey, p))
		}
	}
	return nil
}

// searchPoint returns where the command looks at an index.
func (tx *Tx) searchPoint() search.Point {
	return search.Point{
		Database: tx.Search.Database, Name: tx.Database, Index: tx.Index, Now: tx.Now, Wall: tx.Wall, Memory: tx.OwnMax, Done: tx.Search.Done,
		Work: tx.allowed(), Spend: func(steps int64) { tx.spendFound(steps) },
	}
}

// searchedStream is the refusal to move or copy a key that a stream index watches.
func (tx *Tx) searchedStream(keys ...[]byte) *reply.Value {
	for _, d := range tx.definitions().All() {
		if d.Source != search.Stream {
			continue
		}
		for _, key := range keys {
			if d.Prefixes[0] == string(key) {
				return ptr(reply.Error("ERR the key " + clean(string(key)) + " is the stream of the search index " + clean(d.Name)))
			}
		}
	}
	return nil
}

func searchDrop(tx *Tx, a *Args) reply.Value {
	name := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	if !tx.definitions().Drop(name) {
		return reply.Int(0)
	}
	tx.changedIndexes()
	return reply.Int(1)
}

func searchReindex(tx *Tx, a *Args) reply.Value {
	name := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	d := tx.definitions().Find(name)
	if d == nil {
		return reply.Int(0)
	}
	again := *d
	again.SkipScan = false
	tx.definitions().Put(again)
	tx.changedIndexes()
	return reply.Int(1)
}

func searchAliasAdd(tx *Tx, a *Args) reply.Value {
	alias, index := a.String(), a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	s := tx.definitions()
	if refusal := searchName(alias); refusal != nil {
		return *refusal
	}
	if refusal := searchName(index); refusal != nil {
		return *refusal
	}
	if refusal := tx.roomFor(len(alias) + len(index)); refusal != nil {
		return *refusal
	}
	fresh := s.SetAlias(alias, index)
	if len(s.Aliases()) > search.MaxIndexes {
		s.DropAlias(alias)
		return reply.Error(fmt.Sprintf("ERR a database has at most %d aliases of search indexes", search.MaxIndexes))
	}
	if fresh {
		return reply.Int(1)
	}
	return reply.Int(2)
}

func searchAliasDel(tx *Tx, a *Args) reply.Value {
	alias := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	if tx.definitions().DropAlias(alias) {
		return reply.Int(1)
	}
	return reply.Int(0)
}

func searchListAliases(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	list := []reply.Value{}
	for _, one := range tx.definitions().Aliases() {
		list = append(list, reply.Array(reply.Bulk(one.Name), reply.Bulk(one.Index)))
	}
	return reply.Array(list...)
}
