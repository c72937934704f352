package queue

import "github.com/trireme-dev/trireme/fsm/wire"

// Fields codes the value in its wire format.
func (sh *share) Fields(c *wire.Codec) {
	c.String(&sh.Tenant)
	c.Uvarint(&sh.no)
	c.Uvarint(&sh.line)
	c.Int(&sh.Weight)
	c.Uvarint(&sh.Pass)
	c.Uvarint(&sh.rest)
	c.Int(&sh.live)
	c.Varint(&sh.idle)
}

// Fields codes the value in its wire format.
func (l *line) Fields(c *wire.Codec) {
	c.Uvarint(&l.no)
	c.Uvarint(&l.now)
	c.Uvarint(&l.top)
	c.Uvarint(&l.Pass)
	c.Uvarint(&l.rest)
}

// loadLine takes in a line that was saved. Its shares come after it.
func (st *shareTable) loadLine(l line) {
	st.lines.Set(l.no, l)
	st.memory += lineCost
}

// load takes in a share that was saved.
func (st *shareTable) load(sh *share) {
	sh.Weight = min(max(sh.Weight, 1), MaxWeight)
	st.byName.Set(shareName{sh.line, sh.Tenant}, sh.no)
	st.memory += sh.size()
	l, shared := st.lines.Get(sh.line)
	if !shared {
		l.no = sh.line
		st.memory += lineCost
	}
	l.shares++
	st.lines.Set(l.no, l)
	st.store(sh)
}

// consistent reports whether shares and lines that were loaded belong to each other, and numbers are given once.
func (st *shareTable) consistent() bool {
	sum := 0
	st.lines.All(func(_ uint64, l line) bool {
		sum += l.shares
		return l.shares > 0
	})
	return sum == st.byNo.Len() && sum == st.byName.Len()
}

// hasShares reports whether there are the shares that a message takes.
func (s *Store) hasShares(m *Message) bool {
	if m.marks&marksTenant == 0 || m.place == placeDone {
		return true
	}
	tenant := m.envelope().TenantOf()
	return (m.queue == 0 || s.places.shares.of(m.queue, tenant) != 0) && (m.flow == 0 || s.places.shares.of(m.flow, tenant) != 0)
}
