package search

import (
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// streamState is what an index has seen of its stream. Entries never change, so a stream that has changed has new entries at
// its end, or has lost some: at its beginning, as trimming does, or anywhere, which only a walk finds.
type streamState struct {
	ids   []keyspace.StreamID // of all entries, in order, whether they are documents or not
	added int64               // entries ever added, which falls when another stream takes the key
}

// entriesPerView is how many entries are taken into the index at once.
const entriesPerView = 256

// lookAtStream brings an index up to its stream as it is now.
func (e *Engine) lookAtStream(t *task, name string) {
	have := t.streams[name]
	if have == nil {
		have = &streamState{}
		t.streams[name] = have
	}
	e.m.ViewFork(0, [16]byte{}, func(v *fsm.View) {
		var log *keyspace.StreamLog
		v.Keys(t.name, t.database, func(db *keyspace.DB, env *env.Env) {
			if o := db.Peek(env, []byte(name)); o != nil {
				log, _ = o.Data().(*keyspace.StreamLog)
			}
		})
		var gone []change
		if log == nil || log.Added() < have.added {
			gone = removals(have.ids)
			*have = streamState{}
		}
		if log != nil {
			e.followStream(t, have, log, gone)
		} else {
			t.take(gone, e.maxDocuments)
		}
	})
}

// followStream takes out what has gone from a stream, and takes in what is new.
func (e *Engine) followStream(t *task, have *streamState, log *keyspace.StreamLog, list []change) {
	have.added = log.Added()
	gone, at := have.trim(log)
	list = append(list, removals(gone)...)
	log.Ascend(at, func(entry keyspace.StreamEntry) bool {
		have.ids = append(have.ids, entry.ID)
		list = append(list, change{name: entry.ID.String(), doc: fromEntry(t.def, entry)})
		if len(list) >= entriesPerView {
			t.take(list, e.maxDocuments)
			list = list[:0]
		}
		return true
	})
	t.take(list, e.maxDocuments)
}

// trim drops the entries that a stream has no longer and returns them, and where in the stream the first new one is.
func (s *streamState) trim(log *keyspace.StreamLog) (gone []keyspace.StreamID, at int) {
	n := len(s.ids)
	if n == 0 {
		return nil, 0
	}
	last := s.ids[n-1]
	end := log.From(last)
	if end < log.Len() && log.At(end).ID == last {
		end++
	}
	if end == n { // none has gone
		return nil, end
	}
	kept := s.ids[:0]
	for _, id := range s.ids {
		for at < end && log.At(at).ID.Compare(id) < 0 {
			at++
		}
		if at < end && log.At(at).ID == id {
			kept = append(kept, id)
		} else {
			gone = append(gone, id)
		}
	}
	s.ids = kept
	return gone, end
}

// removals are the changes that take entries out.
func removals(ids []keyspace.StreamID) []change {
	list := make([]change, 0, len(ids))
	for _, id := range ids {
		list = append(list, change{name: id.String()})
	}
	return list
}
