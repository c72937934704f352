package workflow

// Reset forgets everything but the settings and the numbers that were given.
func (s *Store) Reset() {
	fresh := New()
	fresh.settings, fresh.serial, fresh.keeper = s.settings, s.serial, s.keeper
	*s = *fresh
}
