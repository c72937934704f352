package conformance

import (
	"testing"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/command/scripttest"
)

// singly sends a script command by command over HTTP.
func singly(t *testing.T, where string, steps []scripttest.Step, see witness) {
	w := newWorld(t)
	for i := range steps {
		s := &steps[i]
		w.now += s.After
		if v, went := w.single(t, where, s); went {
			see.sawStep(s, s.Shown(v))
		}
	}
}

// together sends what stands between two moments as transactions over HTTP.
func together(t *testing.T, where string, steps []scripttest.Step, see witness) {
	w := newWorld(t)
	var open []*scripttest.Step
	flush := func() {
		if len(open) == 0 {
			return
		}
		for i, v := range w.transaction(t, where, open) {
			if i < len(open) {
				see.sawStep(open[i], open[i].Shown(v))
			}
		}
		open = nil
	}
	for i := range steps {
		s := &steps[i]
		if s.After > 0 || len(open) > 0 && open[0].As != s.As {
			flush()
			w.now += s.After
		}
		if w.fits(s) {
			open = append(open, s)
			continue
		}
		flush()
		if w.closed(s) {
			see.sawStep(s, s.Shown(w.refusal(t, where, s)))
			continue
		}
		w.single(t, where, s)
	}
	flush()
}

// sendable reports whether a step can be sent over HTTP.
func sendable(s *scripttest.Step) bool {
	_, ok := body(s.Argv)
	return ok && token(s.As) != "" && s.Origin != command.Script && s.Origin != command.OriginInternal
}

// fits reports whether a step can stand in a transaction over HTTP.
func (w *world) fits(s *scripttest.Step) (fits bool) {
	if !sendable(s) {
		return false
	}
	w.beside.Local(func(v *fsm.View) {
		c, refusal := v.Check(s.As, command.OriginHTTP, s.Argv)
		fits = refusal == nil && c.Flags&command.NoMulti == 0
	})
	return fits
}

// closed reports whether the row of a step is one that transactions over HTTP don't take.
func (w *world) closed(s *scripttest.Step) bool {
	row := rows.Find(s.Argv)
	return sendable(s) && row != nil && row.Takes(len(s.Argv)) && !inTransaction.open(row)
}
