package fsm

// lockedCommands is about how many commands run under one hold of the lock.
const lockedCommands = 200

// charge counts work as n commands: work that holds the lock longer than one command does.
func (m *Machine) charge(n int) { m.sinceYield += n }

// yield releases the lock for a moment, so that readers proceed, once lockedCommands have run since it was taken.
func (m *Machine) yield() {
	if m.sinceYield++; m.sinceYield >= lockedCommands {
		m.sinceYield = 0
		m.state.settle()
		m.unlock()
		m.lock()
	}
}

func (m *Machine) lock() {
	m.mu.Lock()
	if m.Hooks.Locked != nil {
		m.Hooks.Locked()
	}
}

func (m *Machine) unlock() {
	if m.Hooks.Unlocking != nil {
		m.Hooks.Unlocking()
	}
	m.mu.Unlock()
}
