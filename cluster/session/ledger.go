package session

import (
	"container/list"
	"math"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

const (
	// allowance is the largest debt with which a database's requests are still sent.
	allowance = 10 * time.Millisecond
	// mostDebt bounds the debt, and so the time for which a database is held up by what it has used.
	mostDebt = 2 * time.Second
	// activeFor is the time for which a database counts as active after a request of it was applied.
	activeFor = time.Second
	// costlyFor is the time after a debt for which the requests of a database count as costly. It is longer than the
	// greatest debt takes to be paid off while one other database is active.
	costlyFor = 2*mostDebt + time.Second
	// busyOver is the time constant of the average that says how busy the applies are.
	busyOver = time.Second
	// longestStep bounds what a step of work is charged, ten times what it usually takes: an entry may have been
	// measured while the process had no processor.
	longestStep = time.Microsecond
	// A request of largeWork steps or more is charged largeCharge times what it took, because nothing else is applied
	// meanwhile. A database with small requests gets its whole share, one with large requests a third of it.
	largeWork   = 10_000
	largeCharge = 3
	// forgetAfter is the time without requests after which a database is forgotten.
	forgetAfter = 10 * time.Second
)

// Ledger knows how much of this node's apply time each database has used lately. What an entry takes is charged to the
// databases of its requests, in proportion to their work, as a debt. While others are active a debt is paid off slowly
// enough to leave them their shares, and the database waits meanwhile. docs/design/fairness.md has the reasons.
type Ledger struct {
	mu       sync.Mutex
	accounts map[string]*account
	// active and quiet are the accounts in the order of their last requests: those that were seen within activeFor, and the others.
	// So what has become quiet, or is to be forgotten, is at the front, and is found without a look at the rest.
	active, quiet list.List
	busy          float64 // the part of the time that applies take
	busyAt        time.Time
	costly        time.Time // when any debt was above the allowance last
}

type account struct {
	db     string
	place  *list.Element
	active bool // place is in active, not in quiet
	debt   time.Duration
	paid   time.Time // up to when
	seen   time.Time // when a request of it was applied last
	over   time.Time // when its debt was above the allowance last
}

// NewLedger returns a ledger without entries.
func NewLedger() *Ledger { return &Ledger{accounts: map[string]*account{}} }

// Note charges an entry, which took so long and ended at now, to the databases of its requests.
func (l *Ledger) Note(now time.Time, took time.Duration, outcomes []fsm.Outcome) {
	total := int64(0)
	for i := range outcomes {
		total += outcomes[i].Work
	}
	if total == 0 { // a cluster with one database
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = l.busy*math.Exp(-float64(now.Sub(l.busyAt))/float64(busyOver)) + float64(took)/float64(busyOver)
	l.busyAt = now
	each := min(float64(took)/float64(total), float64(longestStep))
	var a *account
	for i := range outcomes {
		o := &outcomes[i]
		if o.Work == 0 {
			continue
		}
		if i == 0 || a == nil || o.Database != outcomes[i-1].Database {
			a = l.account(now, o.Database)
			l.pay(now, a)
		}
		share := time.Duration(each * float64(o.Work))
		if o.Work >= largeWork {
			share *= largeCharge
		}
		if a.debt = min(a.debt+share, mostDebt); a.debt > allowance {
			a.over, l.costly = now, now
		}
	}
}

// Held reports whether the requests of a database have to wait.
func (l *Ledger) Held(now time.Time, db string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts[db]
	if a == nil {
		return false
	}
	l.pay(now, a)
	return a.debt > allowance && l.others(now) > 0
}

// Others reports whether databases other than db are active. db itself may only read.
func (l *Ledger) Others(now time.Time, db string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.age(now)
	n := l.active.Len()
	if a := l.accounts[db]; a != nil && now.Sub(a.seen) < activeFor {
		n--
	}
	return n > 0
}

// Costly reports whether requests of a database go into entries of their own: it has had a debt within costlyFor, and
// others are active.
func (l *Ledger) Costly(now time.Time, db string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.costly) > costlyFor {
		return false
	}
	a := l.accounts[db]
	return a != nil && now.Sub(a.over) <= costlyFor && l.others(now) > 0
}

// account returns the account of a database, which is seen now: a new one if it has none.
func (l *Ledger) account(now time.Time, db string) *account {
	a := l.accounts[db]
	switch {
	case a == nil:
		a = &account{db: db, paid: now}
		l.accounts[db] = a
	case a.active:
		l.active.Remove(a.place)
	default:
		l.quiet.Remove(a.place)
	}
	a.seen, a.active, a.place = now, true, l.active.PushBack(a)
	return a
}

// pay takes off a debt what has been paid since: the share of an active database, or half of the time that nobody uses
// if that is more.
func (l *Ledger) pay(now time.Time, a *account) {
	since := now.Sub(a.paid)
	a.paid = now
	if a.debt == 0 {
		return
	}
	rate := 1 / float64(1+l.others(now))
	idle := 1 - l.busy*math.Exp(-float64(now.Sub(l.busyAt))/float64(busyOver))
	a.debt = max(0, a.debt-time.Duration(max(rate, idle/2)*float64(since)))
}

// others returns the number of active databases, one of them not counted.
func (l *Ledger) others(now time.Time) int {
	l.age(now)
	return max(0, l.active.Len()-1)
}

// age moves accounts that have become quiet, and forgets those that have been for long.
func (l *Ledger) age(now time.Time) {
	for e := l.active.Front(); e != nil && now.Sub(e.Value.(*account).seen) >= activeFor; e = l.active.Front() {
		a := l.active.Remove(e).(*account)
		a.active, a.place = false, l.quiet.PushBack(a)
	}
	for e := l.quiet.Front(); e != nil && now.Sub(e.Value.(*account).seen) > forgetAfter; e = l.quiet.Front() {
		delete(l.accounts, l.quiet.Remove(e).(*account).db)
	}
}
