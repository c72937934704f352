package keyspace

import (
	"cmp"
	"math"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
)

// Deadline is the moment at which a key or a field is gone, in unix milliseconds; 0 is never. It is a moment of cluster time, or of wall
// time if it was given as a time of day.
type Deadline int64

const (
	// ofWall is the bit of deadlines by wall time.
	ofWall Deadline = math.MinInt64
	// Past is a deadline that has passed.
	Past = ofWall
)

// ByTime is a deadline by cluster time.
func ByTime(unixms int64) Deadline {
	if unixms <= 0 {
		return Past
	}
	return Deadline(unixms)
}

// ByWall is a deadline by wall time, which states below the level env.Files do not know.
func ByWall(e *env.Env, unixms int64) Deadline {
	if unixms <= 0 || e.Level < env.Files {
		return ByTime(unixms)
	}
	if at, ok := e.Until(unixms); ok {
		return ByTime(at)
	}
	return Deadline(unixms) | ofWall
}

// Millis is the moment in unix milliseconds.
func (d Deadline) Millis() int64 { return int64(d &^ ofWall) }

// Left returns the milliseconds that are left at now.
func (d Deadline) Left(now env.Time) int64 {
	if d&ofWall != 0 {
		return d.Millis() - now.Wall
	}
	return d.Millis() - now.Now
}

// Passed reports whether what has the deadline is gone at now.
func (d Deadline) Passed(now env.Time) bool { return d != 0 && d.Left(now) <= 0 }

// record is the deadline in records: one by wall time is negative.
func (d Deadline) record() int64 {
	if d&ofWall != 0 {
		return -d.Millis()
	}
	return int64(d)
}

// deadlineOf reads what record returns.
func deadlineOf(n int64) Deadline {
	if n < 0 {
		return Deadline(-n) | ofWall
	}
	return Deadline(n)
}

// sooner is the one of two deadlines, 0 for none, that an index has for both: when it has passed, one of them has.
func sooner(a, b Deadline) Deadline {
	if a == 0 || b != 0 && (b.Millis() < a.Millis() || b.Millis() == a.Millis() && b > a) {
		return b
	}
	return a
}

// due is an entry of the expiry index.
type due struct {
	at  Deadline
	key string
}

// headOfDue orders deadlines: those by cluster time first, then those by wall time, each kind by the moment.
func headOfDue(d due) uint64 { return uint64(d.at) }

func compareDue(a, b due) int {
	return cmp.Or(cmp.Compare(headOfDue(a), headOfDue(b)), cmp.Compare(a.key, b.key))
}

// dueIndex holds what has deadlines, in the order of headOfDue.
type dueIndex = cow.BTree[due, struct{}]

func newDueIndex() *dueIndex { return cow.NewBTree[due, struct{}](headOfDue, compareDue) }

// passed counts the entries whose deadlines have passed at now.
func passed(index *dueIndex, now env.Time) int {
	if index.Len() == 0 {
		return 0
	}
	byTime, _ := index.Rank(due{at: Deadline(now.Now + 1)})
	byWall, _ := index.Rank(due{at: Deadline(now.Wall+1) | ofWall})
	others, _ := index.Rank(due{at: ofWall})
	return byTime + byWall - others
}

// firsts are the earliest entries by cluster time and by wall time; the deadline is 0 where there is none.
func firsts(index *dueIndex) (byTime, byWall due) {
	if d, _, ok := index.Min(); ok && d.at&ofWall == 0 {
		byTime = d
	}
	if d, _, ok := index.Max(); ok && d.at&ofWall != 0 {
		index.Ascend(due{at: ofWall}, func(d due, _ struct{}) bool {
			byWall = d
			return false
		})
	}
	return byTime, byWall
}

// lastOf is the latest deadline by either time, by wall time if any is: that is never before cluster time.
func lastOf(index *dueIndex) Deadline {
	d, _, ok := index.Max()
	if !ok || d.at&ofWall == 0 {
		return d.at
	}
	if byTime, _ := index.Rank(due{at: ofWall}); byTime > 0 {
		t, _ := index.At(byTime - 1)
		return max(t.at, d.at&^ofWall) | ofWall
	}
	return d.at
}

// overdue is an entry whose deadline has passed at now.
func overdue(index *dueIndex, now env.Time) (d due, ok bool) {
	byTime, byWall := firsts(index)
	if byTime.at.Passed(now) {
		return byTime, true
	}
	return byWall, byWall.at.Passed(now)
}
