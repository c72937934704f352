package command

import (
	"math"
	"strconv"

	"trireme/fsm/glob"
	"trireme/fsm/reply"
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
func readPageOptions(a *Args, mayHide bool) pageOptions {
	o := pageOptions{count: scanDefault}
	for a.Left() > 0 && !a.bad {
		switch {
		case a.Word("MATCH"):
			o.match, o.matches = a.String(), true
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

func (o *pageOptions) shows(name string) bool { return !o.matches || glob.Match(o.match, name) }

// page is the reply of a scan.
func page(next uint64, found []reply.Value) reply.Value {
	return reply.Array(reply.Bulk(strconv.FormatUint(next, 10)), reply.Array(found...))
}

// emptyPage is the reply of a scan of nothing.
func emptyPage() reply.Value { return page(0, nil) }
