package queue

import (
	"cmp"
	"math"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
)

// Tenants share a line (the backlog of a queue, the wait list of a flow-control key) by start-time fair queuing. Each share has a
// pass: the virtual time at which what it had is used up. The share with the least pass comes first, and moves on by the cost of its
// message over its weight. The line's own time is where the last one began; a share that comes back begins there, unless it has had
// more. So what two shares with waiting messages got for their weights never differs by more than one message of each.

const (
	// MaxTenants is the most tenants of one queue or flow-control key that have messages which are not done.
	MaxTenants = 10_000
	// passScale is how far a pass moves for a cost of 1 at a weight of 1. What a division leaves over is kept, so that nothing is lost
	// to rounding.
	passScale = 1_000_000
	// maxPass is the pass from which on those of a line are counted from its time again.
	maxPass = 1 << 62
	// shareCost and lineCost are the logical memory of a share, with its name twice, and of a line that is shared.
	shareCost, lineCost = 240, 160
)

// share is a tenant's part of a line.
type share struct {
	Tenant string
	no     uint64
	line   uint64 // the number of a Queue or a FlowKey
	Weight int
	// Pass is where its next message begins, unless the line is further; rest is what the last division left over.
	Pass, rest uint64
	// live counts its messages that are not done, waiting those in the line.
	live, waiting int
	// idle is the time at which it is forgotten, in unix milliseconds, 0 while it has messages.
	idle int64
}

// line is a line that tenants share. The messages without a tenant have a share of weight 1, whose number is 0.
type line struct {
	no uint64
	// now is the line's virtual time, top the furthest pass of all of its shares so far.
	now, top uint64
	// Pass and rest are those of messages without a tenant.
	Pass, rest uint64
	shares     int
}

// shareName finds a share.
type shareName struct {
	line   uint64
	tenant string
}

// shareTable holds the shares of all lines.
type shareTable struct {
	byNo   *cow.BTree[uint64, *share]
	byName *cow.BTree[shareName, uint64]
	lines  *cow.BTree[uint64, line]
	turns  *cow.BTree[turn, struct{}] // of shares with waiting messages
	debts  *cow.BTree[turn, struct{}] // of shares without messages
	idle   *cow.BTree[Stamp, struct{}]
	memory int64
}

// turn is a share's place in the order of turns of its line.
type turn struct{ line, pass, no uint64 }

func byTurn() *cow.BTree[turn, struct{}] {
	return cow.NewBTree[turn, struct{}](func(t turn) uint64 { return t.line }, func(a, b turn) int {
		if a.pass != b.pass {
			return cmp.Compare(a.pass, b.pass)
		}
		return cmp.Compare(a.no, b.no)
	})
}

func newShareTable() shareTable {
	names := cow.NewBTree[shareName, uint64](func(n shareName) uint64 { return n.line }, func(a, b shareName) int { return strings.Compare(a.tenant, b.tenant) })
	return shareTable{byNo: byNumber[*share](), byName: names, lines: byNumber[line](), turns: byTurn(), debts: byTurn(), idle: byStamp[struct{}]()}
}

func (st *shareTable) fork() shareTable {
	f := *st
	f.byNo, f.byName, f.lines = st.byNo.Snapshot(), st.byName.Snapshot(), st.lines.Snapshot()
	f.turns, f.debts, f.idle = st.turns.Snapshot(), st.debts.Snapshot(), st.idle.Snapshot()
	return f
}

// get returns a share as a copy that may be changed and must be stored, nil if there is none.
func (st *shareTable) get(no uint64) *share {
	old, ok := st.byNo.Get(no)
	if !ok {
		return nil
	}
	c := *old
	return &c
}

// of is the number of a tenant's share of a line, 0 for none.
func (st *shareTable) of(line uint64, tenant string) uint64 {
	if tenant == "" {
		return 0
	}
	no, _ := st.byName.Get(shareName{line, tenant})
	return no
}

// fits reports whether a line has a share for a tenant, or room for one.
func (st *shareTable) fits(line uint64, tenant string) bool {
	return st.size(line) < MaxTenants || st.of(line, tenant) != 0 || count(st.debts, line) > 0
}

// size is the number of shares of a line.
func (st *shareTable) size(line uint64) int {
	l, _ := st.lines.Get(line)
	return l.shares
}

// first is the share of a line, of those with a tenant and waiting messages, that has the least pass.
func (st *shareTable) first(line uint64) (pass, no uint64, ok bool) {
	st.turns.AscendHead(line, func(t turn, _ struct{}) bool {
		pass, no, ok = t.pass, t.no, t.line == line
		return false
	})
	return pass, no, ok
}

// add makes a share of a line, which has the number no.
func (st *shareTable) add(of uint64, tenant string, no uint64) *share {
	l, shared := st.lines.Get(of)
	if !shared {
		l.no = of
		st.memory += lineCost
	}
	if l.shares >= MaxTenants { // who owes least is forgiven
		st.forgive(line{no: of, now: math.MaxUint64}, 1)
		l.shares = st.size(of)
	}
	l.shares++
	st.lines.Set(of, l)
	sh := &share{Tenant: strings.Clone(tenant), no: no, line: of, Weight: 1}
	st.byName.Set(shareName{of, sh.Tenant}, sh.no)
	st.memory += sh.size()
	return sh
}

func (sh *share) size() int64 { return shareCost + 2*int64(len(sh.Tenant)) }

// leave counts a message of a tenant less, which is done. A share that has none is forgotten, but for one that has had more than
// others: that is remembered for flowKept, or until the others have had as much. alone: nothing waits in the line.
func (st *shareTable) leave(of uint64, tenant string, alone bool, now int64) {
	sh := st.get(st.of(of, tenant))
	if sh == nil {
		return
	}
	if sh.live--; sh.live > 0 {
		st.byNo.Set(sh.no, sh)
		return
	}
	if l, _ := st.lines.Get(of); alone || sh.Pass <= l.now {
		st.forget(sh)
		return
	}
	sh.idle = roundUp(now + flowKept)
	st.store(sh)
}

// store puts a share that was changed into the orders that it belongs to.
func (st *shareTable) store(sh *share) {
	st.byNo.Set(sh.no, sh)
	at := turn{sh.line, sh.Pass, sh.no}
	if sh.waiting > 0 {
		st.turns.Set(at, struct{}{})
	}
	if sh.idle != 0 {
		st.idle.Set(Stamp{sh.idle, sh.no}, struct{}{})
		st.debts.Set(at, struct{}{})
	}
}

// unidle takes a share out of those to forget.
func (st *shareTable) unidle(sh *share) {
	if sh.idle != 0 {
		st.idle.Delete(Stamp{sh.idle, sh.no})
		st.debts.Delete(turn{sh.line, sh.Pass, sh.no})
		sh.idle = 0
	}
}

// forget removes a share without messages.
func (st *shareTable) forget(sh *share) {
	st.unidle(sh)
	st.byNo.Delete(sh.no)
	st.byName.Delete(shareName{sh.line, sh.Tenant})
	st.memory -= sh.size()
	l, _ := st.lines.Get(sh.line)
	if l.shares--; l.shares == 0 {
		st.lines.Delete(sh.line)
		st.memory -= lineCost
		return
	}
	st.lines.Set(sh.line, l)
}

// forgetIdle forgets shares whose time has come, at most limit.
func (st *shareTable) forgetIdle(now int64, limit int) (done int) {
	for ; done < limit; done++ {
		at, _, ok := st.idle.Min()
		if !ok || at.At > now {
			break
		}
		st.forget(st.get(at.Seq))
	}
	return done
}

// enter counts a message of a share that has come into its line.
func (st *shareTable) enter(no uint64) {
	if sh := st.get(no); sh != nil {
		sh.waiting++
		st.store(sh)
	}
}

// even ends what shares of a line owe each other: nothing waits there any more.
func (st *shareTable) even(of uint64) {
	if l, shared := st.lines.Get(of); shared && l.now != l.top {
		l.now = l.top
		st.lines.Set(of, l)
	}
}

// exit counts a message of a share that has left its line.
func (st *shareTable) exit(no uint64) {
	sh := st.get(no)
	if sh == nil {
		return
	}
	if sh.waiting--; sh.waiting == 0 {
		st.turns.Delete(turn{sh.line, sh.Pass, sh.no})
	}
	st.byNo.Set(no, sh)
}

// charge counts the cost of a message that is let through against its share of a line, and moves the line's time on.
func (st *shareTable) charge(of, no uint64, cost int) {
	l, shared := st.lines.Get(of)
	if !shared {
		return
	}
	if l.top >= maxPass {
		l = st.rebase(l)
	}
	sh := st.get(no)
	if sh == nil {
		l.Pass, l.rest, l.now = advancePass(l.Pass, l.rest, l.now, cost, 1)
		l.top = max(l.top, l.Pass)
	} else {
		st.turns.Delete(turn{of, sh.Pass, no})
		sh.Pass, sh.rest, l.now = advancePass(sh.Pass, sh.rest, l.now, cost, sh.Weight)
		l.top = max(l.top, sh.Pass)
		st.store(sh)
	}
	st.lines.Set(of, l)
	st.forgive(l, 2)
}

// advancePass returns the pass of a share after a message, with what the division leaves over, and the time of the line.
func advancePass(pass, rest, now uint64, cost, weight int) (uint64, uint64, uint64) {
	if pass < now {
		pass, rest = now, 0
	}
	n := uint64(cost)*passScale + rest
	return pass + n/uint64(weight), n % uint64(weight), pass
}

// forgive forgets shares of a line without messages, once the line has come to where they were, at most limit.
func (st *shareTable) forgive(l line, limit int) {
	for range limit {
		var at turn
		ok := false
		st.debts.AscendHead(l.no, func(t turn, _ struct{}) bool {
			at, ok = t, t.line == l.no && t.pass <= l.now
			return false
		})
		if !ok {
			return
		}
		st.forget(st.get(at.no))
	}
}

// rebase counts the passes of a line from its time again: once in as many messages as there are of the highest cost in maxPass.
func (st *shareTable) rebase(l line) line {
	var all []uint64
	st.byName.AscendHead(l.no, func(n shareName, no uint64) bool {
		if n.line == l.no {
			all = append(all, no)
		}
		return n.line == l.no
	})
	from := l.now
	since := func(pass uint64) uint64 { return max(pass, from) - from }
	for _, no := range all {
		sh := st.get(no)
		idle := sh.idle
		st.unidle(sh)
		st.turns.Delete(turn{sh.line, sh.Pass, sh.no})
		sh.Pass, sh.idle = since(sh.Pass), idle
		st.store(sh)
	}
	l.Pass, l.top, l.now = since(l.Pass), since(l.top), 0
	st.lines.Set(l.no, l)
	return l
}
