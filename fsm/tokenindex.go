package fsm

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/cow"
)

// tokenIndex finds the database of a credential that names none by the beginnings of the digests of the tokens of the built-in users, so that a sign-in
// costs the same however many databases there are. What is found is only where to look: Authenticate and Bearer judge. See
// docs/design/databases.md.
type tokenIndex struct {
	databases *cow.BTree[tokenRef, struct{}]
	salts     []usedSalt // replaced with every change: forks share it
}

// tokenRef says that a database has a token whose digest, as it is stored or as the proof of its REST token, begins like that. All
// databases together have so few tokens that the beginnings hardly ever meet, and if they do, both databases are looked at.
type tokenRef struct {
	beginning uint64
	database  string
}

func beginningOf(d *acl.Digest) uint64 { return binary.BigEndian.Uint64(d[:]) }

func (tr tokenRef) head() uint64 { return tr.beginning }

func (tr tokenRef) compare(o tokenRef) int {
	return cmp.Or(cmp.Compare(tr.beginning, o.beginning), strings.Compare(tr.database, o.database))
}

// usedSalt is a salt and the number of digests that are stored under it.
type usedSalt struct {
	salt acl.Salt
	uses int
}

func newTokenIndex() tokenIndex {
	return tokenIndex{databases: cow.NewBTree[tokenRef, struct{}](tokenRef.head, tokenRef.compare)}
}

func (ti *tokenIndex) fork() tokenIndex { return tokenIndex{ti.databases.Snapshot(), ti.salts} }

// update takes the tokens that a database had out, and enters those that it has now.
func (ti *tokenIndex) update(database string, before, now []acl.Token) {
	ti.salts = slices.Clone(ti.salts)
	for i := range before {
		ti.databases.Delete(tokenRef{beginningOf(&before[i].Digest), database})
		ti.count(before[i].Salt, -1)
	}
	for i := range now {
		ti.databases.Set(tokenRef{beginningOf(&now[i].Digest), database}, struct{}{})
		ti.count(now[i].Salt, 1)
	}
}

// entering enters tokens of many databases into an index that is empty.
type entering struct {
	index *tokenIndex
	all   []tokenRef
}

func (ti *tokenIndex) enter() *entering { return &entering{index: ti} }

func (e *entering) add(database string, tokens []acl.Token) {
	for i := range tokens {
		e.all = append(e.all, tokenRef{beginningOf(&tokens[i].Digest), database})
		e.index.count(tokens[i].Salt, 1)
	}
}

// done puts all tokens in their places.
func (e *entering) done() {
	slices.SortFunc(e.all, tokenRef.compare)
	b := cow.NewBuilder[tokenRef, struct{}](tokenRef.head, tokenRef.compare)
	for _, r := range e.all {
		b.Add(r, struct{}{}) // refuses what is there
	}
	e.index.databases = b.Tree()
}

// count counts a digest under a salt, in a list that no fork has.
func (ti *tokenIndex) count(salt acl.Salt, by int) {
	i := slices.IndexFunc(ti.salts, func(u usedSalt) bool { return u.salt == salt })
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
	for i := range digests {
		beginning := beginningOf(&digests[i])
		ti.databases.Ascend(tokenRef{beginning: beginning}, func(r tokenRef, _ struct{}) bool {
			if r.beginning != beginning {
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
