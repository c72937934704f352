package keyspace

// gap reports whether an entry was deleted from between others at or behind id.
func (s *StreamLog) gap(id StreamID) bool {
	return s.Len() > 0 && !s.deleted.Zero() && id.Compare(s.deleted) <= 0
}

// Deliver moves g, a group of s that may be changed, on to an entry that is delivered if
// it is behind all that were before. It keeps the count of read entries as long as that
// can be known.
func (s *StreamLog) Deliver(g *StreamGroup, id StreamID) {
	switch {
	case id.Compare(g.Last) <= 0:
		return
	case g.Read != UnknownRead && g.Last.Compare(s.First()) >= 0 && !s.gap(g.Last):
		g.Read++
	case s.added != 0:
		g.Read = s.ReadUpTo(id)
	}
	g.Last = id
}

// ReadUpTo is how many of all entries ever added stand up to id, UnknownRead where gaps
// or an ID between entries leave that open.
func (s *StreamLog) ReadUpTo(id StreamID) int64 {
	first := s.First()
	switch {
	case s.added == 0:
		return 0
	case s.Len() == 0 && id.Compare(s.last) <= 0:
		return s.added
	case !id.Zero() && id.Compare(s.deleted) < 0:
		return UnknownRead
	case id == s.last:
		return s.added
	case id.Compare(s.last) > 0:
		return UnknownRead
	case !s.deleted.Zero() && s.deleted.Compare(first) >= 0:
		return UnknownRead
	case id.Compare(first) < 0:
		return s.added - int64(s.Len())
	case id == first:
		return s.added - int64(s.Len()) + 1
	}
	return UnknownRead
}

// Lag is how many entries were not delivered to g yet; it is not ok if that can't be
// told.
func (s *StreamLog) Lag(g *StreamGroup) (n int64, ok bool) {
	first := s.First()
	switch {
	case s.added == 0 || s.Len() == 0:
		return 0, true
	case g.Last.Compare(first) < 0 && s.deleted.Compare(first) < 0:
		return int64(s.Len()), true
	case g.Read != UnknownRead && !s.gap(g.Last):
		return s.added - g.Read, true
	}
	read := s.ReadUpTo(g.Last)
	return s.added - read, read != UnknownRead
}
