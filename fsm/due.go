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

// Deliveries is how many deliveries are claimed and have no result, and NextMessage, both of the same
// moment: between two calls a delivery may go from the one to the other.
func (m *Machine) Deliveries() (claimed int, next int64, some bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, d := range m.state.databases {
		if d.messages != nil {
			claimed += d.messages.Counts().Active
		}
	}
	next, some = m.state.nextMessage()
	return claimed, next, some
}
