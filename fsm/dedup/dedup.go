package dedup

import (
	"cmp"
	"crypto/sha256"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/trireme-dev/trireme/fsm/cow"
)

const (
	// Retention is the least time that a reply is kept, in milliseconds of cluster time.
	Retention = 15 * 60 * 1000
	// Capacity is the most logical bytes of all records.
	Capacity = 64 << 20
	// MaxReply is the most bytes of one reply that is kept. Of a longer one only the
	// fact is kept that the write was applied.
	MaxReply = 1 << 20
	// MaxID is the most bytes of an id.
	MaxID = 128
)

const (
	// recordCost is the logical overhead of a record in bytes.
	recordCost = 224
	// rounding makes records fall due together, so that an idle cluster needs few
	// entries to forget them. In milliseconds.
	rounding = 10_000
)

// Digest is the hash of what a request asks for.
type Digest [sha256.Size]byte

// Key names a client's request. Ids of different scopes have nothing to do with each
// other; a scope is a user of a database.
type Key struct{ Scope, ID string }

// Record remembers a request that was applied.
type Record struct {
	Hash Digest
	// Expire is the time at which the record is forgotten, in unix milliseconds.
	Expire int64
	// Reply is the reply in the caller's coding; it must not be changed. Without Kept
	// it was too long and is empty.
	Reply []byte
	Kept  bool
}

// due is a place in the order in which records are forgotten.
type due struct {
	at  int64
	key Key
}

// Table holds the records. Make one with New.
type Table struct {
	records *cow.BTree[Key, *Record]
	dues    *cow.BTree[due, struct{}]
	used    int64
	shares  *cow.BTree[string, int64] // bytes by owner; see Room
}

// New is an empty table.
func New() *Table {
	return &Table{
		records: cow.NewBTree[Key, *Record](headOfKey, compareKeys),
		dues:    cow.NewBTree[due, struct{}](headOfDue, compareDues),
		shares:  cow.NewBTree[string, int64](nil, strings.Compare),
	}
}

func headOfKey(k Key) uint64 { return xxhash.Sum64String(k.ID) }

func compareKeys(a, b Key) int {
	if c := strings.Compare(a.ID, b.ID); c != 0 {
		return c
	}
	return strings.Compare(a.Scope, b.Scope)
}

func headOfDue(d due) uint64 { return uint64(d.at) }

func compareDues(a, b due) int {
	if c := cmp.Compare(a.at, b.at); c != 0 {
		return c
	}
	return compareKeys(a.key, b.key)
}

// Fork is the table as it is now, in constant time; both sides may go on.
func (t *Table) Fork() *Table {
	return &Table{records: t.records.Snapshot(), dues: t.dues.Snapshot(), used: t.used, shares: t.shares.Snapshot()}
}

// Len is the number of records, those not swept yet included.
func (t *Table) Len() int { return t.records.Len() }

// Used is the logical memory of the records in bytes.
func (t *Table) Used() int64 { return t.used }

// Find is the record of a request, nil if there is none at that time.
func (t *Table) Find(now int64, k Key) *Record {
	r, ok := t.records.Get(k)
	if !ok || r.Expire <= now {
		return nil
	}
	return r
}

// owner returns the database of a record, the first word of its scope.
func (k Key) owner() string {
	owner, _, _ := strings.Cut(k.Scope, " ")
	return owner
}

// Room reports whether a record of that key fits whatever its reply will be. Put may only
// be called if it did. Of several owners each has an equal part of half of the table to
// itself; the other half goes to who comes first, so one that asks for much takes no more
// than that half from the others.
func (t *Table) Room(k Key, owners int) bool {
	need := cost(k, nil) + MaxReply
	if t.used+need > Capacity {
		return false
	}
	if owners <= 1 || t.used+need <= Capacity/2 {
		return true
	}
	own, _ := t.shares.Get(k.owner())
	return own+cost(k, nil) <= Capacity/2/int64(owners)
}

// count adds bytes to what an owner has.
func (t *Table) count(k Key, bytes int64) {
	t.used += bytes
	own, _ := t.shares.Get(k.owner())
	if own += bytes; own == 0 {
		t.shares.Delete(k.owner())
		return
	}
	t.shares.Set(k.owner(), own)
}

// Put remembers a reply. It keeps reply itself, which must not be changed afterwards.
func (t *Table) Put(now int64, k Key, hash Digest, reply []byte) {
	r := &Record{Hash: hash, Reply: reply, Kept: true}
	if len(reply) > MaxReply {
		r.Reply, r.Kept = nil, false
	}
	r.Expire = (now + Retention + rounding - 1) / rounding * rounding
	t.add(k, r)
}

func (t *Table) add(k Key, r *Record) {
	t.drop(k) // one past its time that was not swept yet
	t.records.Set(k, r)
	t.dues.Set(due{r.Expire, k}, struct{}{})
	t.count(k, cost(k, r.Reply))
}

func (t *Table) drop(k Key) {
	r, had := t.records.Remove(k)
	if !had {
		return
	}
	t.dues.Delete(due{r.Expire, k})
	t.count(k, -cost(k, r.Reply))
}

func cost(k Key, reply []byte) int64 {
	return recordCost + int64(len(k.Scope)) + int64(len(k.ID)) + int64(len(reply))
}

// NextDue returns the time at which the next record expires, in unix milliseconds.
func (t *Table) NextDue() (unixms int64, ok bool) {
	d, _, ok := t.dues.Min()
	return d.at, ok
}

// Sweep forgets records whose time has come, at most limit of them.
func (t *Table) Sweep(now int64, limit int) (swept int) {
	for ; swept < limit; swept++ {
		d, _, ok := t.dues.Min()
		if !ok || d.at > now {
			break
		}
		t.drop(d.key)
	}
	return swept
}
