package queue

// joinShare counts a new message of a tenant in a line, whose weight becomes that of the message if it names one.
func (s *Store) joinShare(of uint64, p *Precedence) {
	st := &s.places.shares
	sh := st.get(st.of(of, p.Tenant))
	if sh == nil {
		sh = st.add(of, p.Tenant, s.next())
	}
	if p.Weight > 0 {
		sh.Weight = min(p.Weight, MaxWeight)
	}
	st.unidle(sh)
	sh.live++
	st.byNo.Set(sh.no, sh)
}

// joinShares counts a new message in the shares of its tenant, of its queue and of its flow-control key.
func (s *Store) joinShares(m *Message, c *Content) {
	if m.marks&marksTenant == 0 {
		return
	}
	for _, of := range [...]uint64{m.queue, m.flow} {
		if of != 0 {
			s.joinShare(of, c.Precedence)
		}
	}
}

// leaveShares takes m, which is done and in no index, out of the shares of its tenant.
func (s *Store) leaveShares(m *Message, now int64) {
	if m.marks&marksTenant == 0 {
		return
	}
	tenant := m.envelope().TenantOf()
	if m.queue != 0 {
		s.places.shares.leave(m.queue, tenant, !waits(s.places.backlog, m.queue), now)
	}
	if m.flow != 0 {
		s.places.shares.leave(m.flow, tenant, !waits(s.places.waiting, m.flow), now)
	}
}
