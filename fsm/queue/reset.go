package queue

// Reset forgets everything but the settings, the signing keys and the numbers that were
// given: attempts under way have no message any more, and no id comes twice.
func (s *Store) Reset() {
	fresh := New()
	fresh.settings, fresh.keys, fresh.serial, fresh.events.newest, fresh.sender = s.settings, s.keys, s.serial, s.events.newest, s.sender
	fresh.keeper, fresh.sealing = s.keeper, s.sealing
	*s = *fresh
}
