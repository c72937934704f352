package fsm

// NextDue is the earliest moment, in unix milliseconds, at which something in the
// state is to be swept. What messages wait for is NextMessage.
func (m *Machine) NextDue() (unixms int64, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.state.nextDue()
}

// NextMessage is the earliest moment, in unix milliseconds, at which Advance has something to do for messages: a
// delivery, a lease, a schedule. One that has passed means now.
func (m *Machine) NextMessage() (unixms int64, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.state.nextMessage()
}

// Deliveries returns the number of claimed deliveries without a result, and NextMessage, both of the same
// moment: between two calls a delivery may go from the one to the other.
func (m *Machine) Deliveries() (claimed int, next int64, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, d := range m.state.databases {
		if d.quarantined == 0 {
			claimed += d.messages.Counts().Active
		}
	}
	next, ok = m.state.nextMessage()
	return claimed, next, ok
}

// nextDue returns when the next sweep is due: of all databases, of kept replies, and of what messages leave behind.
func (s *State) nextDue() (unixms int64, ok bool) {
	for _, d := range s.databases {
		if at, found := d.nextDue(); found && d.quarantined == 0 && (!ok || at < unixms) {
			unixms, ok = at, true
		}
	}
	if at, found := s.retries.NextDue(); found && (!ok || at < unixms) {
		unixms, ok = at, true
	}
	if len(s.tokens.former) > 0 && (!ok || s.tokens.former[0].Until < unixms) {
		unixms, ok = s.tokens.former[0].Until, true
	}
	for _, d := range s.databases {
		if d.quarantined != 0 {
			continue
		}
		if at, found := d.workflows.NextSweep(d.messages); found && (!ok || at < unixms) {
			unixms, ok = at, true
		}
		if at, found := d.messages.NextSweep(); found && (!ok || at < unixms) {
			unixms, ok = at, true
		}
	}
	return unixms, ok
}

// nextMessage returns when Advance next has something to do for messages of some database.
func (s *State) nextMessage() (unixms int64, ok bool) {
	for _, d := range s.databases {
		if d.quarantined != 0 {
			continue
		}
		if at, found := d.messages.NextDue(); found && (!ok || at < unixms) {
			unixms, ok = at, true
		}
		if at, found := d.workflows.NextDue(); found && (!ok || at < unixms) {
			unixms, ok = at, true
		}
	}
	return unixms, ok
}
