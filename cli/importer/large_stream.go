package importer

import (
	"strconv"

	"github.com/trireme-dev/trireme/fsm/keyspace"
)

// stream sends a stream entry by entry, then its counters and its groups with what is
// pending. When a consumer was last seen can't be sent, nor what is pending of entries
// that are gone.
func (w *partWriter) stream(s *keyspace.StreamLog) {
	s.Ascend(0, func(e keyspace.StreamEntry) bool {
		words := []string{"XADD", w.name, e.ID.String()}
		e.Words(func(word string) { words = append(words, word) })
		w.row(words...)
		return w.err == nil
	})
	w.row("XSETID", w.name, s.Last().String(), "ENTRIESADDED", strconv.FormatInt(s.Added(), 10), "MAXDELETEDID", s.MaxDeleted().String())
	s.EachGroup(func(g *keyspace.StreamGroup) bool {
		w.group(s, g)
		return w.err == nil
	})
}

func (w *partWriter) group(s *keyspace.StreamLog, g *keyspace.StreamGroup) {
	words := []string{"XGROUP", "CREATE", w.name, g.Name, g.Last.String()}
	if g.Read != keyspace.UnknownRead {
		words = append(words, "ENTRIESREAD", strconv.FormatInt(g.Read, 10))
	}
	w.row(words...)
	g.EachConsumer(func(c *keyspace.StreamConsumer) bool {
		w.row("XGROUP", "CREATECONSUMER", w.name, g.Name, c.Name)
		return w.err == nil
	})
	g.EachPending(keyspace.StreamID{}, func(p keyspace.StreamPending) bool {
		if _, there := s.Get(p.ID); there {
			w.row("XCLAIM", w.name, g.Name, p.Consumer, "0", p.ID.String(), "TIME", strconv.FormatInt(p.Delivered, 10),
				"RETRYCOUNT", strconv.FormatInt(p.Count, 10), "FORCE", "JUSTID")
		}
		return w.err == nil
	})
}
