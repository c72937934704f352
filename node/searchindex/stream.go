package searchindex

import (
	"slices"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// streamState is an index's progress through its stream. Entries never change. A changed stream has new entries at its end, or
// has lost entries: at its beginning, by trimming, or anywhere, which only a walk detects.
type streamState struct {
	ids   []keyspace.StreamID // of all entries, in order, whether they are documents or not
	added int64               // entries ever added, which falls when another stream takes the key
}

// entriesPerPut bounds the entries that are taken into the index at once.
const entriesPerPut = 256

// readStream updates an index to the present entries of its stream, or by as many entries as a step has. It returns their weight
// in bytes, and whether no more are left.
func (in *Indexes) readStream(t *task) (bytes int64, all bool) {
	have := &t.stream
	all = true
	in.m.ViewFork(env.Time{}, [16]byte{}, func(v *fsm.View) {
		var log *keyspace.StreamLog
		v.Keys(t.of.name, t.of.number, func(db *keyspace.DB, env *env.Env) {
			if o := db.Peek(env, []byte(t.def.Prefixes[0])); o != nil {
				log, _ = o.Data().(*keyspace.StreamLog)
			}
		})
		var gone []change
		if log == nil || log.Added() < have.added {
			gone = removals(have.ids)
			t.grow(-entryCost * int64(len(have.ids)))
			*have = streamState{}
		}
		if log != nil {
			bytes, all = in.followStream(t, log, gone)
		} else {
			in.put(t, gone)
		}
	})
	return bytes, all
}

// followStream removes deleted entries of a stream from its index and adds new ones.
func (in *Indexes) followStream(t *task, log *keyspace.StreamLog, list []change) (bytes int64, all bool) {
	have := &t.stream
	have.added = log.Added()
	gone, at := have.trim(log)
	t.grow(-entryCost * int64(len(gone)))
	list = append(list, removals(gone)...)
	all = true
	log.Ascend(at, func(entry keyspace.StreamEntry) bool {
		have.ids = append(have.ids, entry.ID)
		t.grow(entryCost)
		doc, size := t.fromEntry(entry)
		list = append(list, change{name: entry.ID.String(), doc: doc})
		bytes += size
		if len(list) >= entriesPerPut || size > viewBytes {
			in.put(t, list)
			list = list[:0]
		}
		all = bytes < stepBytes
		return all && !t.full
	})
	in.put(t, list)
	return bytes, all || len(have.ids) == log.Len()
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
	if end > 0 { // as trimming does, so that it takes no walk
		first, _ := slices.BinarySearchFunc(s.ids, log.At(0).ID, keyspace.StreamID.Compare)
		if n-first == end {
			gone, s.ids = s.ids[:first], s.ids[first:]
			return gone, end
		}
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
