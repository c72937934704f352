package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/sealed"
	"github.com/trireme-dev/trireme/fsm/wire"
)

const (
	// sealAfter is the time in milliseconds after its end from which on a run goes into a volume, if that is longer than deduplication
	// ids are remembered: until then a start that is repeated finds it.
	sealAfter = 10 * 60_000
	// sealedTogether is the most runs of a volume. It takes no more once they have sealedBytes of records, or sealedWhole with all bodies: a
	// backup has it in one record.
	sealedTogether = 64
	sealedBytes    = 256 << 10
	sealedWhole    = 16 << 20
	// mostSealedEntries is the length of a log above which a run stays in the trees: one entry of the log encodes it.
	mostSealedEntries = 4096
	// sealedSpan is the part of the time for which runs are kept, as a divisor, that a volume may span: it goes as a whole.
	sealedSpan = 16
)

// The sets of a volume of runs.
const (
	setRuns     = iota // numbers of runs
	setNames           // hashes of ids, see nameOf
	setMessages        // numbers of messages
	runSets
)

// The fields that words of a volume of runs are of.
const (
	wordURL byte = 'u' + iota
	wordHost
	wordPath
	wordLabel
	wordFlow
	wordCaller
	wordDeployment
)

// nameOf is the hash by which a volume has the id of a run: of many thousands of volumes hardly one has it by chance.
func nameOf(id string) uint64 { return uint64(uint32(sealed.WordOf('n', id))) }

// past are the runs that are in volumes, and how far runs have been looked at for that, in the order of their ends.
type past struct {
	sealed.Volumes
	// sealed is the end of the last run that was looked at soon after it, late that of the last one that was looked at once nothing of
	// it could be under way any more.
	sealed, late queue.Stamp
	at           uint64 // the index of the log's entry that made a volume last
	on           bool   // runs go into volumes; see Raise
	// thawed are the volumes that a reader's own fork has loaded, nil of any other store.
	thawed map[*sealed.Volume]bool
}

func (pa *past) fork() past {
	f := *pa
	f.Volumes, f.thawed = pa.Volumes.Fork(), nil
	return f
}

// sealable returns the time from which on a volume can be made, in unix milliseconds; false if too few runs have ended.
func (s *Store) sealable(q *queue.Store) (at int64, ok bool) {
	from := s.past.sealed
	from.Seq++
	i, _ := s.ended.Rank(from)
	if i+sealedTogether > s.ended.Len() {
		return 0, false
	}
	t, _ := s.ended.At(i + sealedTogether - 1)
	return t.At + soon(q), true
}

// soon and late are the times in milliseconds after its end at which a run is looked at: one of which everything was delivered, and any.
func soon(q *queue.Store) int64 { return max(sealAfter, q.Settings().DedupWindow) }

func late(q *queue.Store) int64 { return soon(q) + q.Settings().MaxTimeout }

// seal makes a volume of runs that have ended, at most one for an entry of the log, and reports whether it made one.
func (s *Store) seal(e *env.Env, q *queue.Store) bool {
	if !s.past.on || s.past.at == e.Index {
		return false
	}
	b := newBinder(s)
	switch at, ok := s.sealable(q); {
	case ok && at <= e.Now:
		s.past.sealed = b.take(s.past.sealed, e.Now-soon(q), (*Store).delivered)
	default:
		s.past.late = b.take(s.past.late, e.Now-late(q), (*Store).unchanging)
	}
	if len(b.runs) == 0 {
		return false
	}
	s.past.at = e.Index
	for _, r := range b.runs {
		s.forgetEnded(r)
	}
	v := b.bind()
	s.past.AddByTime(v)
	s.uncounted += v.Size() - v.Counted()
	return true
}

// sealAgain has a run that has ended looked at once more, now that it has no dead letter any more.
func (s *Store) sealAgain(at queue.Stamp) {
	if l := s.past.late; at.At < l.At || at.At == l.At && at.Seq <= l.Seq {
		s.past.late = queue.Stamp{At: at.At, Seq: at.Seq - 1}
	}
}

// unchanging reports whether nothing of a run that is over can change, once its deliveries can't be under way any more.
func (s *Store) unchanging(r *Run) bool {
	return r.Entries <= mostSealedEntries && (r.Callback == nil || r.Callback.State != CallbackInProgress)
}

// delivered reports whether all of a run was delivered: its endpoint has nothing to say any more.
func (s *Store) delivered(r *Run) bool {
	all := s.unchanging(r)
	s.Log(r.No, func(_ uint32, e *Entry) bool {
		all = all && e.State == Delivered
		return all
	})
	return all
}

// binder makes a volume of runs.
type binder struct {
	s      *Store
	volume sealed.Volume
	runs   []*Run
	w      wire.Writer
	refs   wire.References
	whole  int64 // bytes of the runs with all bodies
	sets   [runSets][]uint64
	words  []sealed.Word
}

func newBinder(s *Store) *binder { return &binder{s: s, refs: wire.References{All: true}} }

// take puts in runs that have ended after one and at a time or before it, in the order of their ends: those that fit. It returns the last
// one that it has looked at.
func (bi *binder) take(after queue.Stamp, until int64, fits func(*Store, *Run) bool) queue.Stamp {
	from, looked, last := after, 0, after
	from.Seq++
	bi.s.ended.Ascend(from, func(t queue.Stamp, no uint64) bool {
		if t.At > until || looked == 2*sealedTogether || len(bi.runs) == sealedTogether || len(bi.w.B) > sealedBytes || bi.whole > sealedWhole || bi.spans(t.At) {
			return false
		}
		looked, last = looked+1, t
		if r, ok := bi.s.runs.Get(no); ok && fits(bi.s, r) {
			bi.add(r)
		}
		return true
	})
	return last
}

// spans reports whether a volume with a run that ended at a time would span too much time.
func (bi *binder) spans(at int64) bool {
	age := bi.s.settings.EndedAge
	return len(bi.runs) > 0 && age > 0 && at-bi.volume.From > age/sealedSpan
}

// add puts in a run with its log and its marks, as records of Save.
func (bi *binder) add(r *Run) {
	if len(bi.runs) == 0 {
		bi.volume.First, bi.volume.Last, bi.volume.From = r.No, r.No, r.Completed
	}
	bi.volume.First, bi.volume.Last, bi.volume.To = min(bi.volume.First, r.No), max(bi.volume.Last, r.No), r.Completed
	bi.volume.Tally(int(r.State))
	bi.runs, bi.whole = append(bi.runs, r), bi.whole+r.bytes
	bi.sets[setRuns] = append(bi.sets[setRuns], r.No)
	bi.sets[setNames] = append(bi.sets[setNames], nameOf(r.ID))
	bi.record(kindRun, func(w *wire.Writer) { w.Put(r) })
	bi.s.Log(r.No, func(pos uint32, e *Entry) bool {
		bi.sets[setMessages] = append(bi.sets[setMessages], e.ID.Seq)
		bi.record(kindEntry, func(w *wire.Writer) { putEntry(w, place{r.No, pos}, e) })
		return true
	})
	bi.s.marks.AscendHead(r.No, func(m mark, v uint64) bool {
		if m.run != r.No {
			return false
		}
		bi.record(kindMark, func(w *wire.Writer) { putMark(w, m, v) })
		return true
	})
	bi.addWords(r)
}

func (bi *binder) record(k kind, put func(*wire.Writer)) {
	bi.w.References = &bi.refs
	bi.w.Record(func(w *wire.Writer) {
		w.B = append(w.B, byte(k))
		put(w)
	})
}

func (bi *binder) addWords(r *Run) {
	put := func(field byte, text string) {
		if text != "" {
			bi.words = append(bi.words, sealed.WordOf(field, text))
		}
	}
	at := &queue.Content{URL: r.URL}
	put(wordURL, r.URL)
	for _, host := range queue.HostNames(at.Host()) {
		put(wordHost, host)
	}
	put(wordPath, at.Path())
	for _, l := range r.Labels {
		put(wordLabel, l)
	}
	if r.Flow != nil {
		put(wordFlow, r.Flow.Key)
	}
	put(wordCaller, r.CallerIP)
	put(wordDeployment, r.Deployment)
}

// bind returns the volume, which has some runs.
func (bi *binder) bind() *sealed.Volume {
	v := bi.volume // a copy, which doesn't keep the rest in memory
	v.Count, v.Words = len(bi.runs), sealed.WordsOf(bi.words)
	for _, set := range bi.sets {
		v.Sets = append(v.Sets, sealed.NumbersOf(set))
	}
	v.Records = payload.New(append([]byte(nil), bi.w.B...), bi.s.keeper)
	v.Refer(&bi.refs)
	return &v
}
