package command

import (
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// references says what becomes of a deleted entry where it is pending in groups.
type references uint8

const (
	keepReferences references = iota
	dropReferences
	onlyAcknowledged // entries that some group still needs are not deleted
)

// references reads one of the three words, if one of them is next.
func (a *Args) references() (r references, ok bool) {
	switch {
	case a.Word("KEEPREF"):
		return keepReferences, true
	case a.Word("DELREF"):
		return dropReferences, true
	case a.Word("ACKED"):
		return onlyAcknowledged, true
	}
	return 0, false
}

// trimming holds the options by which XADD and XTRIM cut a stream.
type trimming struct {
	given   bool
	byID    bool // MINID, otherwise MAXLEN
	maxLen  int64
	minID   keyspace.StreamID
	approx  bool
	limit   int64 // most entries to cut, 0 for any number
	limited bool  // LIMIT was given
	refs    references
	refSet  bool
	node    int64 // entries that go together or not at all, 0 for any number
	least   int64 // fewest entries that are cut at all
}

// trimLimit is the largest number of entries that an approximate trim cuts without LIMIT: a
// hundred of Redis's nodes of a hundred entries. If nodes have another size it is a hundred of
// those, up to maxTrimLimit.
const (
	trimLimit    = 10_000
	maxTrimLimit = 1_000_000
)

var (
	errTwoTrims    = reply.Error("ERR syntax error, MAXLEN and MINID options at the same time are not compatible")
	errTrimLength  = reply.Error("ERR The MAXLEN argument must be >= 0.")
	errTrimLimit   = reply.Error("ERR The LIMIT argument must be >= 0.")
	errLimitAlone  = reply.Error("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy")
	errLimitExact  = reply.Error("ERR syntax error, LIMIT cannot be used without the special ~ option")
	errNoTrimGiven = reply.Error("ERR syntax error, XTRIM must be called with a trimming strategy")
)

// option reads one option of trimming, if one is next.
func (t *trimming) option(a *Args) bool {
	switch more := a.Left() > 1; {
	case more && a.Word("MAXLEN"):
		if t.strategy(a) {
			if t.maxLen = a.Int(); t.maxLen < 0 {
				a.Fail(errTrimLength)
			}
		}
	case more && a.Word("MINID"):
		if t.strategy(a) {
			t.byID, t.minID = true, a.streamID()
		}
	case more && a.Word("LIMIT"):
		t.limited = true
		if t.limit = a.Int(); t.limit < 0 {
			a.Fail(errTrimLimit)
		}
	default:
		refs, ok := a.references()
		if ok && t.refSet {
			a.Fail(ErrSyntax)
		}
		if ok {
			t.refs, t.refSet = refs, true
		}
		return ok
	}
	return true
}

// strategy reads ~ or = behind MAXLEN or MINID.
func (t *trimming) strategy(a *Args) bool {
	if t.given {
		a.Fail(errTwoTrims)
		return false
	}
	t.given = true
	if a.Left() > 1 {
		t.approx = a.Word("~")
		if !t.approx {
			a.Word("=")
		}
	}
	return true
}

// judge records what is wrong with the options together.
func (t *trimming) judge(a *Args, must bool) {
	switch {
	case t.limit != 0 && !t.given:
		a.Fail(errLimitAlone)
	case must && !t.given:
		a.Fail(errNoTrimGiven)
	case t.limited && !t.approx:
		a.Fail(errLimitExact)
	case t.approx && !t.limited:
		t.limit = trimLimit
	}
}

// approximate has an approximate trim leave what its dialect lets it leave: Redis cuts whole nodes, the reference service
// either nothing or exactly.
func (t *trimming) approximate(tx *Tx) {
	if !t.approx {
		return
	}
	switch tx.dialect().approximate {
	case lessThanAll:
		t.least = trimLeeway
	case wholeNodes:
		if t.refs == onlyAcknowledged {
			return
		}
		t.node = tx.nodeEntries()
		if !t.limited && t.node > 0 {
			t.limit = min(t.node, maxTrimLimit/100) * 100
		}
	}
}

// excess returns the number of entries to cut at the head. An approximate trim has a limit, and
// if it cuts by nodes it leaves the entries that share a node with one to keep.
func (t *trimming) excess(s *keyspace.StreamLog) int {
	if !t.given {
		return 0
	}
	n := max(int64(s.Len())-t.maxLen, 0)
	if t.byID {
		n = int64(s.From(t.minID))
	}
	if n < t.least {
		return 0
	}
	if t.limit > 0 && t.refs != onlyAcknowledged {
		n = min(n, t.limit)
	}
	if t.node > 0 {
		n = t.wholeNodes(s, n)
	}
	return int(n)
}

// wholeNodes returns the number of the first n entries that fill whole nodes. Nodes begin at fixed
// multiples of all entries ever added: a deleted entry leaves its place empty. Redis also begins
// one when a node has 4,096 bytes, which is no part of the state here.
func (t *trimming) wholeNodes(s *keyspace.StreamLog, n int64) int64 {
	length := int64(s.Len())
	if n >= length {
		return length
	}
	first := t.node - max(s.Added()-length, 0)%t.node
	if n < first {
		return 0
	}
	return n - (n-first)%t.node
}

// trim cuts a stream that may be changed and says how many entries went.
func (t *trimming) trim(s *keyspace.StreamLog) int {
	n := t.excess(s)
	switch t.refs {
	case onlyAcknowledged:
		return t.trimAcknowledged(s, n)
	case dropReferences:
		for i := range n {
			s.Forget(s.At(i).ID)
		}
	}
	s.DropFirst(n)
	return n
}

// trimAcknowledged cuts entries that no group needs any more: with MAXLEN as many as are
// too many, wherever they stand, with MINID those among the first n.
func (t *trimming) trimAcknowledged(s *keyspace.StreamLog, n int) int {
	if n == 0 {
		return 0
	}
	read := s.ReadByAll()
	most := n
	if t.limit > 0 {
		most = int(min(int64(n), t.limit))
	}
	var free []keyspace.StreamID
	head, i := 0, 0
	s.Ascend(0, func(e keyspace.StreamEntry) bool {
		if len(free) == most || t.byID && i == n || e.ID.Compare(read) > 0 {
			return false
		}
		if !s.Referenced(e.ID) {
			if free = append(free, e.ID); head == i {
				head++
			}
		}
		i++
		return true
	})
	s.DropFirst(head)
	for _, id := range free[head:] {
		s.Delete(id)
	}
	return len(free)
}
