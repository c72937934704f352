package resp

// Attached is how many connections the event loop serves.
func (s *Server) Attached() int { return s.loop.loop.Attached() }

// AttachRounds is how many rounds of simple commands attach a connection.
const AttachRounds = attachRounds

// SettledLate is how often somebody has waited in vain for connections that subscribe.
func (s *Server) SettledLate() int64 { return s.intakes.inVain.Load() }
