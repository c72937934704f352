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
	next, ok = m.state.nextMessage()
	return m.state.sums.claimed, next, ok
}

// nextDue returns when the next sweep is due: of all databases, of kept replies, and of what messages leave behind.
func (s *State) nextDue() (unixms int64, ok bool) {
	unixms = s.databases.Sum().nextSweep(s.time())
	if at, found := s.retries.NextDue(); found {
		unixms = min(unixms, at)
	}
	if len(s.tokens.former) > 0 {
		unixms = min(unixms, s.tokens.former[0].Until)
	}
	return unixms, unixms != never
}

// nextMessage returns when Advance next has something to do for messages of some database.
func (s *State) nextMessage() (unixms int64, ok bool) {
	unixms = s.databases.Sum().nextAdvance(s.time())
	return unixms, unixms != never
}
