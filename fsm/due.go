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

// Claims is how many deliveries are claimed and have no result.
func (m *Machine) Claims() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	active := 0
	for _, d := range m.state.databases {
		if d.messages != nil {
			active += d.messages.Counts().Active
		}
	}
	return active
}
