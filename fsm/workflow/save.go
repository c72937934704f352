package workflow

import (
	"errors"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/saving"
	"github.com/trireme-dev/trireme/fsm/sealed"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// errRecord says that a saved record is damaged, or out of order.
var errRecord = errors.New("workflow: malformed record")

// kind is the first byte of a saved record. Kinds are append-only, and records stand in the order of kinds.
type kind byte

const (
	kindHead kind = iota
	kindRun
	kindEntry
	kindMark
	kindWaiter
	kindSaved
	kindDoomed
	kindBulk
	kindVolume
	kindDeployment
)

// Save emits the store as records; equal stores give equal bytes. Indices are not saved: Load makes them anew.
func (s *Store) Save(emit func(record []byte) error) error { return s.write(&saving.Saver{Emit: emit}) }

// SaveDigests is Save for a hash: digests stand in the place of large payloads, which are not read.
func (s *Store) SaveDigests(emit func(record []byte) error) error {
	return s.write(&saving.Saver{Emit: emit, Digests: true})
}

// SaveReferences is Save for a snapshot: it names the payloads that the keeper has, and adds them to refs.
func (s *Store) SaveReferences(emit func(record []byte) error, refs *wire.References) error {
	return s.write(&saving.Saver{Emit: emit, References: refs})
}

func (s *Store) write(out *saving.Saver) error {
	saving.Put(out, kindHead, func(w *wire.Writer) {
		w.PutRecord(&s.settings)
		w.Uvarint(s.serial)
		if p := &s.past; p.sealed != (queue.Stamp{}) || p.late != (queue.Stamp{}) {
			w.Put(&p.sealed)
			w.Put(&p.late)
		}
	})
	saving.Each(out, kindRun, s.runs, func(_ uint64, r *Run, w *wire.Writer) { w.Put(r) })
	saving.Each(out, kindEntry, s.entries, func(p place, e *Entry, w *wire.Writer) { putEntry(w, p, e) })
	saving.Each(out, kindMark, s.marks, func(m mark, v uint64, w *wire.Writer) { putMark(w, m, v) })
	saving.Each(out, kindWaiter, s.waiters, func(_ uint64, n *Waiter, w *wire.Writer) { w.Put(n) })
	saving.Each(out, kindSaved, s.saved, func(p runKey, n *Saved, w *wire.Writer) {
		w.Uvarint(p.no)
		w.Put(n)
	})
	saving.Each(out, kindDoomed, s.deletedRuns, func(no uint64, _ struct{}, w *wire.Writer) { w.Uvarint(no) })
	saving.Each(out, kindBulk, s.bulk.Records(), func(_ uint64, b *queue.BulkAction, w *wire.Writer) { w.Put(b) })
	s.past.Ascend(0, func(v *sealed.Volume) bool {
		return saving.Put(out, kindVolume, func(w *wire.Writer) { w.Put(v) })
	})
	saving.Each(out, kindDeployment, s.deployments.byName, func(_ string, d *Deployment, w *wire.Writer) { w.Put(d) })
	return out.Err
}

func putEntry(w *wire.Writer, p place, e *Entry) {
	w.Uvarint(p.run)
	w.Uvarint(uint64(p.pos))
	w.Put(e)
}

func putMark(w *wire.Writer, m mark, v uint64) {
	w.Uvarint(m.run)
	w.Uvarint(uint64(m.class))
	w.Uvarint(uint64(m.step))
	w.Uvarint(v)
}

// Load takes in a record of Save, in a store that is new but for the records before it. It copies what it keeps.
func (s *Store) Load(record []byte) error { return s.LoadReferences(record, nil) }

// LoadReferences is Load for a record of SaveReferences, if refs is not nil: the payloads that it names come from there.
func (s *Store) LoadReferences(record []byte, refs *wire.References) error {
	if len(record) == 0 {
		return errRecord
	}
	r := wire.NewReader(append([]byte(nil), record[1:]...))
	r.Refer(refs)
	switch kind(record[0]) {
	case kindHead:
		r.GetRecord(&s.settings)
		s.serial = r.Uvarint()
		if r.Len() > 0 {
			r.Get(&s.past.sealed)
			r.Get(&s.past.late)
		}
	case kindRun:
		return s.loadRun(r)
	case kindEntry:
		return s.loadEntry(r)
	case kindMark:
		m := mark{r.Uvarint(), class(min(r.Uvarint(), uint64(classes))), uint32(r.Uvarint())}
		s.marks.Set(m, r.Uvarint())
	case kindWaiter:
		return s.loadWaiter(r)
	case kindSaved:
		return s.loadSaved(r)
	case kindDoomed:
		s.deletedRuns.Set(r.Uvarint(), struct{}{})
	case kindBulk:
		b := &queue.BulkAction{}
		r.Get(b)
		s.bulk.Put(b)
	case kindVolume:
		return s.loadVolume(r)
	case kindDeployment:
		return s.loadDeployment(r)
	default:
		return errRecord
	}
	return r.Done()
}

func (s *Store) loadRun(in *wire.Reader) error {
	r := &Run{}
	if err := r.read(in); err != nil {
		return err
	}
	r.touch(max(r.Created, r.Completed))
	if r.Invoker != nil {
		if parent, ok := s.runs.Get(r.Invoker.Run); ok { // one with a higher number was created later
			parent.touch(r.Created)
		}
	}
	s.runs.Set(r.No, r)
	s.names.Set(name{r.ID, r.No}, struct{}{})
	switch {
	case r.Active():
		s.enterKey(r)
		s.enterDeployment(r)
		if r.Hold == HeldPaused {
			s.paused.Set(r.No, struct{}{})
		}
		s.findByEvents(r)
	case r.Dead != queue.Stamp{}:
		s.dead.Set(r.Dead, r.No)
	default:
		s.ended.Set(queue.Stamp{At: r.Completed, Seq: r.No}, r.No)
	}
	r.Result = r.Result.Stored(s.keeper)
	s.loaded(r.No, r.size(), r.Result.Uncounted())
	return nil
}

// read reads a run that is alone in its record.
func (r *Run) read(in *wire.Reader) error {
	in.Get(r)
	if err := in.Done(); err != nil {
		return err
	}
	if r.State >= runStates || r.Fault == nil && (r.State == Failed || r.Callback != nil) {
		return errRecord
	}
	return nil
}

// loaded counts the logical memory of what was loaded. The run is not shared yet, so it may be changed.
func (s *Store) loaded(run uint64, bytes, spared int64) (r *Run) {
	r, ok := s.runs.Get(run)
	if !ok {
		return nil // forgotten: it counts no more
	}
	k := &work{s: s, r: r}
	k.count(bytes)
	k.addUncounted(spared)
	return r
}

func (s *Store) loadEntry(in *wire.Reader) error {
	at := place{in.Uvarint(), uint32(in.Uvarint())}
	e := &Entry{}
	if err := e.read(in); err != nil {
		return err
	}
	e.compact(s)
	s.entries.Set(at, e)
	s.ids.Set(e.ID.Seq, at)
	if e.State.Open() {
		s.open.Set(at, struct{}{})
	}
	if r := s.loaded(at.run, e.size(), e.Body.Uncounted()); r != nil {
		r.touch(e.Created)
		for i := range e.Errors {
			r.touch(e.Errors[i].At)
		}
	}
	return nil
}

// read reads an entry that ends its record.
func (e *Entry) read(in *wire.Reader) error {
	in.Get(e)
	if err := in.Done(); err != nil {
		return err
	}
	if e.State >= entryStates || e.Kind >= kinds || e.Kind == CallEntry && e.Own == nil || e.Kind == AnswerEntry && e.Answer == nil {
		return errRecord
	}
	return nil
}

// compact lets go of the record that an entry was decoded from, if nothing of it is used but its body and its name: that
// is most entries, and the rest of the record would stay in memory with them. A large body has a keeper in any case.
func (e *Entry) compact(s *Store) {
	if e.Own == nil && e.Answer == nil && e.URL == "" && len(e.Errors) == 0 {
		e.Body, e.Name = e.Body.Stored(s.keeper), ownedText(e.Name)
	} else if e.Body.Len() >= payload.Apart {
		e.Body = e.Body.Stored(s.keeper)
	}
}

func (s *Store) loadWaiter(in *wire.Reader) error {
	w := &Waiter{}
	in.Get(w)
	if err := in.Done(); err != nil {
		return err
	}
	r, ok := s.runs.Get(w.Run)
	if !ok {
		return errRecord
	}
	(&work{s: s, r: r}).register(w)
	return nil
}

func (s *Store) loadVolume(in *wire.Reader) error {
	v := &sealed.Volume{}
	in.Get(v)
	if err := in.Done(); err != nil {
		return err
	}
	if !v.Valid() || len(v.Sets) != runSets || v.Last > s.serial {
		return errRecord
	}
	v.Keep(s.keeper)
	s.past.Add(v)
	s.uncounted += v.Size() - v.Counted()
	return nil
}

func (s *Store) loadSaved(in *wire.Reader) error {
	no := in.Uvarint()
	n := &Saved{}
	in.Get(n)
	if err := in.Done(); err != nil {
		return err
	}
	s.saved.Set(runKey{n.Run, no}, n)
	r := s.loaded(n.Run, n.size(), 0)
	if r == nil {
		return errRecord
	}
	r.saved++
	r.kept += n.size()
	return nil
}
