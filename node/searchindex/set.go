package searchindex

// set is a set of numbers of documents.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s *set) grow(n int) {
	for len(*s)*64 < n {
		*s = append(*s, 0)
	}
}

func (s set) put(n uint32)        { s[n/64] |= 1 << (n % 64) }
func (s set) putAll(p *postings)  { p.each(func(doc uint32, _ uint16) { s.put(doc) }) }
func (s set) drop(n uint32)       { s[n/64] &^= 1 << (n % 64) }
func (s set) holds(n uint32) bool { return int(n/64) < len(s) && s[n/64]&(1<<(n%64)) != 0 }
