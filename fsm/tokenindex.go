package fsm

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/cow"
)

// tokenIndex finds the database of a credential that names none by the digests of the tokens of the built-in users, so that a sign-in
// costs the same however many databases there are. What is found is only where to look: Authenticate and Bearer judge. See
// docs/design/databases.md.
type tokenIndex struct {
	databases *cow.BTree[tokenRef, struct{}]
	salts     []usedSalt // replaced with every change: forks share it
}

// tokenRef says that a digest is that of a token of a database, as it is stored or as the proof of its REST token.
type tokenRef struct {
	digest   acl.Digest
	database string
}

// usedSalt is a salt and the number of digests that are stored under it.
type usedSalt struct {
	salt acl.Salt
	uses int
}

func newTokenIndex() tokenIndex {
	return tokenIndex{databases: cow.NewBTree[tokenRef, struct{}](func(r tokenRef) uint64 { return binary.BigEndian.Uint64(r.digest[:]) }, func(a, b tokenRef) int {
		return cmp.Or(bytes.Compare(a.digest[:], b.digest[:]), strings.Compare(a.database, b.database))
	})}
}

func (ti *tokenIndex) fork() tokenIndex { return tokenIndex{ti.databases.Snapshot(), ti.salts} }

// update enters the tokens of a database that are in force now, and takes out those that it had entered before. Nil has none.
func (ti *tokenIndex) update(d *database, now []acl.Token) {
	for _, t := range d.tokens {
		ti.databases.Delete(tokenRef{t.Digest, d.name})
		ti.count(t.Salt, -1)
	}
	for _, t := range now {
		ti.databases.Set(tokenRef{t.Digest, d.name}, struct{}{})
		ti.count(t.Salt, 1)
	}
	d.tokens = now
}

// count counts a digest under a salt.
func (ti *tokenIndex) count(salt acl.Salt, by int) {
	i := slices.IndexFunc(ti.salts, func(u usedSalt) bool { return u.salt == salt })
	ti.salts = slices.Clone(ti.salts)
	if i < 0 {
		ti.salts = append(ti.salts, usedSalt{salt, by})
		return
	}
	if ti.salts[i].uses += by; ti.salts[i].uses == 0 {
		ti.salts = slices.Delete(ti.salts, i, i+1)
	}
}

// find returns the names of the databases that have one of some digests, in their order.
func (ti *tokenIndex) find(digests []acl.Digest) (names []string) {
	for _, digest := range digests {
		ti.databases.Ascend(tokenRef{digest: digest}, func(r tokenRef, _ struct{}) bool {
			if r.digest != digest {
				return false
			}
			names = append(names, r.database)
			return true
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// stored returns the digests as which a presented secret may be stored.
func (ti *tokenIndex) stored(p *acl.Presented) (all []acl.Digest) {
	for i := range ti.salts {
		all = append(all, *p.Under(&ti.salts[i].salt))
	}
	return all
}
