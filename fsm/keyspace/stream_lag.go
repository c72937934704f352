package keyspace

// gap reports whether an entry was deleted from between others at or behind id.
func (sl *StreamLog) gap(id StreamID) bool {
	return sl.Len() > 0 && !sl.deleted.Zero() && id.Compare(sl.deleted) <= 0
}

// Deliver moves g, a group of sl that may be changed, on to an entry that is delivered if
// it is behind all that were before. It keeps the count of read entries as long as that
// can be known.
func (sl *StreamLog) Deliver(g *StreamGroup, id StreamID) {
	switch {
	case id.Compare(g.Last) <= 0:
		return
	case g.Read != UnknownRead && g.Last.Compare(sl.First()) >= 0 && !sl.gap(g.Last):
		g.Read++
	case sl.added != 0:
		g.Read = sl.ReadUpTo(id)
	}
	g.Last = id
}

// ReadUpTo counts the entries ever added up to id, UnknownRead if gaps or an ID between
// entries leave that open.
func (sl *StreamLog) ReadUpTo(id StreamID) int64 {
	first := sl.First()
	switch {
	case sl.added == 0:
		return 0
	case sl.Len() == 0 && id.Compare(sl.last) <= 0:
		return sl.added
	case !id.Zero() && id.Compare(sl.deleted) < 0:
		return UnknownRead
	case id == sl.last:
		return sl.added
	case id.Compare(sl.last) > 0:
		return UnknownRead
	case !sl.deleted.Zero() && sl.deleted.Compare(first) >= 0:
		return UnknownRead
	case id.Compare(first) < 0:
		return sl.added - int64(sl.Len())
	case id == first:
		return sl.added - int64(sl.Len()) + 1
	}
	return UnknownRead
}

// Lag returns the number of entries that were not delivered to g yet; ok is false if it is
// not known.
func (sl *StreamLog) Lag(g *StreamGroup) (n int64, ok bool) {
	first := sl.First()
	switch {
	case sl.added == 0 || sl.Len() == 0:
		return 0, true
	case g.Last.Compare(first) < 0 && sl.deleted.Compare(first) < 0:
		return int64(sl.Len()), true
	case g.Read != UnknownRead && !sl.gap(g.Last):
		return sl.added - g.Read, true
	}
	read := sl.ReadUpTo(g.Last)
	return sl.added - read, read != UnknownRead
}
