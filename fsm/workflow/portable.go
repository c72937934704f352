package workflow

import (
	"errors"

	"github.com/trireme-dev/trireme/fsm/saving"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// recordNames are the names of records in exports, by their kinds.
var recordNames = [...]string{
	kindHead: "workflow-head", kindRun: "run", kindEntry: "step", kindMark: "mark", kindWaiter: "waiter", kindSaved: "notification",
	kindDoomed: "deleted-run", kindBulk: "workflow-bulk-action", kindVolume: "run-history", kindDeployment: "deployment",
}

// TakeOver makes what was loaded from elsewhere a successor of old: the settings stay the database's own, and numbers go on
// from whichever is further.
func (s *Store) TakeOver(old *Store) {
	s.settings, s.serial, s.past.on = old.settings, max(s.serial, old.serial), old.past.on
}

// RecordKind is the name of a record of Save, empty if it is none.
func RecordKind(record []byte) string {
	if len(record) == 0 || int(record[0]) >= len(recordNames) {
		return ""
	}
	return recordNames[record[0]]
}

// Describe decodes what people want to see of a record of Save: a *Run, nil for others and for what can't be read.
func Describe(record []byte) any {
	if len(record) == 0 || kind(record[0]) != kindRun {
		return nil
	}
	run := &Run{}
	r := wire.NewReader(append([]byte(nil), record[1:]...))
	if r.Get(run); r.Err() != nil {
		return nil
	}
	return run
}

// SaveLasting emits what a restore keeps as it is: active runs, what their logs have from the beginning, and their waiters.
func (s *Store) SaveLasting(emit func(record []byte) error) error {
	out := &saving.Saver{Emit: emit}
	s.runs.All(func(no uint64, r *Run) bool {
		if !r.Active() {
			return true
		}
		saving.Put(out, kindRun, func(w *wire.Writer) { w.Put(r) })
		s.Log(no, func(_ uint32, e *Entry) bool {
			return saving.Put(out, kindEntry, func(w *wire.Writer) {
				w.Put(&e.ID)
				w.Bytes(e.Body.Bytes())
			})
		})
		return out.Err == nil
	})
	saving.Each(out, kindWaiter, s.waiters, func(_ uint64, n *Waiter, w *wire.Writer) { w.Put(n) })
	return out.Err
}

// errInconsistent says that a record refers to another that is not there, which none of a saved store does.
var errInconsistent = errors.New("workflow: a record refers to one that is missing")

// Consistent returns an error unless the log of every loaded run is whole.
func (s *Store) Consistent() error {
	whole := true
	s.runs.All(func(no uint64, r *Run) bool {
		n := uint32(0)
		s.Log(no, func(pos uint32, _ *Entry) bool {
			if pos != n {
				return false
			}
			n++
			return true
		})
		whole = no <= s.serial && n == r.Entries
		return whole
	})
	if !whole {
		return errInconsistent
	}
	return nil
}
