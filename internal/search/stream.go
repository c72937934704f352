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
	var log *keyspace.StreamLog
	var names []string
	e.m.ViewFork(0, [16]byte{}, func(v *fsm.View) {
		v.Keys(t.name, t.database, func(db *keyspace.DB, env *env.Env) {
			if o := db.Peek(env, []byte(name)); o != nil {
				log, _ = o.Data().(*keyspace.StreamLog)
			}
		})
		if log == nil || log.Added() < have.added {
			for _, id := range have.ids {
				names = append(names, id.String())
			}
			*have = streamState{}
		}
		if log == nil {
			return
		}
		have.added = log.Added()
		kept, at := have.ids[:0], 0
		if n := len(have.ids); n > 0 {
			last := have.ids[n-1]
			end := log.From(last)
			if end < log.Len() && log.At(end).ID == last {
				end++
			}
			if end == n { // none has gone
				kept, at = have.ids, end
			} else {
				for _, id := range have.ids {
					for at < end && log.At(at).ID.Compare(id) < 0 {
						at++
					}
					if at < end && log.At(at).ID == id {
						kept = append(kept, id)
					} else {
						names = append(names, id.String())
					}
				}
				at = end
			}
		}
		have.ids = kept
		list := make([]change, 0, len(names))
		for _, id := range names {
			list = append(list, change{name: id})
		}
		names = nil
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
	})
	list := make([]change, 0, len(names))
	for _, id := range names {
		list = append(list, change{name: id})
	}
	t.take(list, e.maxDocuments)
}
