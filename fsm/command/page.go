package command

import (
	"math"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// pageOptions are those of the scans within a key.
type pageOptions struct {
	match    string
	matches  bool
	count    int
	noValues bool
}

// readPageOptions reads the options of HSCAN, which alone may leave out the values,
// SSCAN and ZSCAN, in any order; the last of an option counts.
func readPageOptions(tx *Tx, a *Args, mayHide bool) pageOptions {
	o := pageOptions{count: int(tx.dialect().scanCount)}
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("MATCH"):
			o.match, o.matches = a.Pattern(), true
		case a.Word("COUNT"):
			n := a.Int()
			if n < 1 {
				a.Fail(ErrSyntax)
			}
			o.count = int(min(n, math.MaxInt))
		case a.Word("NOVALUES"):
			if !mayHide {
				a.Fail(reply.Error("ERR NOVALUES option can only be used in HSCAN"))
			}
			o.noValues = true
		default:
			a.Fail(ErrSyntax)
		}
	}
	return o
}

// shows reports whether a scan shows a name that it looks at.
func (o *pageOptions) shows(tx *Tx, name string) bool {
	if !o.matches {
		return true // what is shown is paid for as a reply
	}
	return tx.matches(o.match, name)
}

// looksPerMatch is the cost of a match in addition to the bytes that it reads, in bytes.
const looksPerMatch = 8

// matches is glob.Match, paid for by the request and by the script that asked for it. It is false once the request has used
// its budget, and the command is refused then: it must only read.
func (tx *Tx) matches(pattern, name string) bool {
	return tx.spendLooks(glob.Work(pattern, len(name))) && glob.Match(pattern, name)
}

// spendLooks takes a look at some bytes off the budget, and reports whether it may be done.
func (tx *Tx) spendLooks(bytes int64) bool {
	looks := tx.work.looks + looksPerMatch + bytes
	tx.work.looks = looks % bytesPerWork
	return tx.spendFound(looks / bytesPerWork)
}

// looked spends steps of the script that runs the command, if one does. It ends the
// script when the budget is spent: only for commands that have changed nothing so far.
func (tx *Tx) looked(steps int) {
	if tx.run != nil && tx.run.live != nil {
		tx.run.live.Step(steps)
	}
}

// page is the reply of a scan.
func page(next uint64, found []reply.Value) reply.Value {
	return reply.Array(reply.Bulk(strconv.FormatUint(next, 10)), reply.Array(found...))
}

// emptyPage is the reply of a scan of nothing.
func emptyPage() reply.Value { return page(0, nil) }
