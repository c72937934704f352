package queue

import "sort"

// Standing is how a message stands among those that wait in a line.
type Standing struct {
	Priority int
	// Rank is the time, in unix milliseconds, that orders the messages of its tenant: when it was published, and PriorityStep earlier for
	// each level of its priority.
	Rank int64
	Cost int
	// Tenant is empty for messages without one. Waiting counts its messages in the line, OwnAhead those of them that come first.
	Tenant            string
	Waiting, OwnAhead int
	// Weight is the tenant's, Weights that of all tenants that have waiting messages, of which there are Tenants. Without tenants in the
	// line they are 0.
	Weight, Weights, Tenants int
}

// standingOf returns the standing that a message brings itself.
func standingOf(m *Message) *Standing {
	c := m.envelope()
	return &Standing{Priority: m.marks.priority(), Rank: rank(c.Created, m.marks.priority()), Cost: c.CostOf(), Tenant: c.TenantOf()}
}

// explainLine says how a message stands in a line, and counts those ahead of it.
func (s *Store) explainLine(t *lineTree, m *Message, of uint64, x *Explanation) {
	at := s.places.lineOf(m, of)
	share := at.list >> priorityBits
	n := standingOf(m)
	n.OwnAhead = s.ahead(t, at, n.Rank)
	n.Waiting = countShare(t, of, share)
	x.Ahead = n.OwnAhead
	l, shared := s.places.shares.lines.Get(of)
	if shared {
		s.explainShare(t, &l, share, n, x)
	}
	if shared || m.marks != 0 || s.places.urgent > 0 {
		x.Standing = n
	}
}

// countShare counts the members of a share of a line.
func countShare(t *lineTree, of, share uint64) int {
	from, _ := t.Rank(inLine{of: of, list: listOf(share, 0)})
	to, _ := t.Rank(inLine{of: of, list: listOf(share+1, 0)})
	return to - from
}

// ahead counts the members of a share that come before a place in one of its lists: in each list those that rank before it.
func (s *Store) ahead(t *lineTree, at inLine, before int64) (n int) {
	share := at.list >> priorityBits
	for p := range MaxPriority + 1 {
		list := listOf(share, p)
		from, _ := t.Rank(inLine{of: at.of, list: list})
		if list == at.list {
			to, _ := t.Rank(at)
			n += to - from
			continue
		}
		to, _ := t.Rank(inLine{of: at.of, list: list + 1})
		n += sort.Search(to-from, func(i int) bool {
			m, _ := t.At(from + i)
			r := s.rankOf(m)
			return r > before || r == before && m.seq > at.seq
		})
	}
	return n
}

// explainShare adds what tenants with waiting messages get while those of the message's own that are ahead of it have their turns.
func (s *Store) explainShare(t *lineTree, l *line, share uint64, n *Standing, x *Explanation) {
	own, weight := max(l.Pass, l.now), 1
	if sh, ok := s.places.shares.byNo.Get(share); ok {
		own, weight = max(sh.Pass, l.now), sh.Weight
	}
	n.Weight = weight
	begins := own + uint64(n.OwnAhead)*passScale/uint64(weight) // as if each cost 1
	other := func(no, pass uint64, weight, waiting int) {
		n.Tenants, n.Weights = n.Tenants+1, n.Weights+weight
		pass = max(pass, l.now)
		if no == share || begins < pass {
			return
		}
		turns := (begins-pass)*uint64(weight)/passScale + 1
		if begins == pass && no > share {
			turns = 0
		}
		x.Ahead += int(min(turns, uint64(waiting)))
	}
	if waiting := countShare(t, l.no, 0); waiting > 0 {
		other(0, l.Pass, 1, waiting)
	}
	s.places.shares.turns.AscendHead(l.no, func(at turn, _ struct{}) bool {
		if at.line != l.no {
			return false
		}
		sh, _ := s.places.shares.byNo.Get(at.no)
		other(sh.no, sh.Pass, sh.Weight, sh.waiting)
		return true
	})
}

// TenantInfo is a tenant's share of a queue or a flow-control key.
type TenantInfo struct {
	// Tenant is empty for messages without one.
	Tenant string
	Weight int
	// Waiting counts its messages that wait in the line, Unfinished all that are not done.
	Waiting, Unfinished int
}

// tenants lists the tenants of a line by name.
func (s *Store) tenants(t *lineTree, of uint64, p NamePage) (list NameList[TenantInfo]) {
	st := &s.places.shares
	l, shared := st.lines.Get(of)
	if !shared {
		return list
	}
	room := p.Limit // that of messages without a tenant is not counted, so that each page has a name
	if waiting := countShare(t, l.no, 0); p.After == "" && waiting > 0 {
		room++
		list.Elements = append(list.Elements, TenantInfo{Weight: 1, Waiting: waiting, Unfinished: waiting})
	}
	st.byName.Ascend(shareName{of, p.After}, func(n shareName, no uint64) bool {
		switch {
		case n.line != of:
			return false
		case n.tenant == p.After && p.After != "":
			return true
		case len(list.Elements) >= room:
			list.More = true
			return false
		}
		sh, _ := st.byNo.Get(no)
		list.Elements = append(list.Elements, TenantInfo{Tenant: sh.Tenant, Weight: sh.Weight, Waiting: sh.waiting, Unfinished: sh.live})
		list.Last = n.tenant
		return true
	})
	return list
}

// FlowTenants lists the tenants that share a flow-control key, by name; none if there is no such key.
func (s *Store) FlowTenants(key string, p NamePage) NameList[TenantInfo] {
	no, ok := s.flows.byName.Get(key)
	if !ok {
		return NameList[TenantInfo]{}
	}
	return s.tenants(s.places.waiting, no, p)
}

// QueueTenants lists the tenants that share a queue, by name; none if there is no such queue.
func (s *Store) QueueTenants(name string, p NamePage) NameList[TenantInfo] {
	no, ok := s.queues.byName.Get(name)
	if !ok {
		return NameList[TenantInfo]{}
	}
	return s.tenants(s.places.backlog, no, p)
}
