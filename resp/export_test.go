package resp

// Members is how many connections are served in turns.
func (s *Server) Members() int {
	s.crowd.mu.Lock()
	defer s.crowd.mu.Unlock()
	return len(s.crowd.members)
}

// CalmRounds is how many rounds of ordinary commands make a connection a member.
const CalmRounds = calmRounds
