package network

import "time"

// Rule says what happens to the traffic of one direction of one pair. The zero Rule is a
// perfect link.
type Rule struct {
	Drop      bool          // cut: silent, as a pulled cable
	Loss      float64       // the part of frames that is lost; a relay holds data up instead, as TCP would
	Delay     time.Duration // of every frame
	Jitter    time.Duration // and up to so much more
	Reorder   float64       // the part of frames that skip the queue; frames only
	Duplicate float64       // the part of frames that are sent twice; frames only
	Corrupt   float64       // the part of frames of which one bit is flipped; frames only
	Rate      int64         // bytes a second (0 = unlimited)
}

// Network connects the nodes 0 to n-1 and the clients, which are number n.
type Network interface {
	// Clients is the number of the clients' end.
	Clients() int
	// Frames says whether what only frames have can be done.
	Frames() bool
	// Set changes one direction.
	Set(from, to int, r Rule)
	// Heal makes every link perfect again.
	Heal()
	// Close ends it.
	Close()
}

// Between sets both directions of a pair.
func Between(n Network, a, b int, r Rule) {
	n.Set(a, b, r)
	n.Set(b, a, r)
}
