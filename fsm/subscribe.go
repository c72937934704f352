package fsm

import (
	"trireme/fsm/channel"
	"trireme/fsm/env"
	"trireme/fsm/wire"
)

// Subscribers says how many subscribers a node has of channels and patterns, in place
// of what it said before. They belong to the session of the request and go with it.
type Subscribers struct {
	// Hub is the number that the node's fan-out has drawn for itself, Serial the count
	// of its messages: the note by which the apply answers repeats both.
	Hub, Serial uint64
	Counts      []SubscriberCount
}

// SubscriberCount is the number of subscribers that one node has of a channel or pattern.
type SubscriberCount struct {
	channel.Ref
	Count int64
}

// Encode writes the fields.
func (n *Subscribers) Encode(w *wire.Writer) {
	w.Uvarint(n.Hub)
	w.Uvarint(n.Serial)
	w.Uvarint(uint64(len(n.Counts)))
	for i := range n.Counts {
		n.Counts[i].Ref.Encode(w)
		w.Uvarint(uint64(n.Counts[i].Count))
	}
}

// Decode reads the fields.
func (n *Subscribers) Decode(r *wire.Reader) {
	n.Hub, n.Serial = r.Uvarint(), r.Uvarint()
	n.Counts = make([]SubscriberCount, r.Count(4))
	for i := range n.Counts {
		n.Counts[i].Ref.Decode(r)
		n.Counts[i].Count = int64(r.Uvarint())
	}
}

// subscribe takes in a node's counts. From this place in the log on its subscribers get
// messages, which the note tells its hub.
func (s *State) subscribe(e *env.Env, n Subscribers) (Opened, error) {
	for _, c := range n.Counts {
		if !c.Kind.Valid() {
			return Opened{}, ErrMalformed
		}
	}
	s.channels.Greet(e.Session, n.Hub)
	for _, c := range n.Counts {
		if s.database(c.DB) == nil { // deleted meanwhile
			c.Count = 0
		}
		s.channels.Set(e.Session, c.Ref, c.Count)
	}
	e.Notes = append(e.Notes, env.Note{Kind: env.Counted, Hub: n.Hub, Serial: n.Serial})
	return Opened{}, nil
}

// SessionRef names a session.
type SessionRef struct{ Session uint64 }

// Encode writes the fields.
func (n *SessionRef) Encode(w *wire.Writer) { w.Uvarint(n.Session) }

// Decode reads the fields.
func (n *SessionRef) Decode(r *wire.Reader) { n.Session = r.Uvarint() }

// forgetSubscribers is what the leader asks for when it can't reach a node.
func (s *State) forgetSubscribers(e *env.Env, n SessionRef) (Opened, error) {
	s.dropSubscribers(e, n.Session)
	return Opened{}, nil
}

// dropSubscribers ends the subscriptions of a session. Should its node still live, it
// closes them when it comes to this place in the log.
func (s *State) dropSubscribers(e *env.Env, session uint64) {
	if hub, found := s.channels.Drop(session); found {
		e.Notes = append(e.Notes, env.Note{Kind: env.Dropped, Hub: hub})
	}
}

// SubscribedNode is a node that has subscribers, by its session.
type SubscribedNode struct {
	Node    string
	Session uint64
}

// SubscribedNodes are the nodes that have subscribers.
func (v *View) SubscribedNodes() (nodes []SubscribedNode) {
	for _, c := range v.s.sessions {
		if v.s.channels.Has(c.id) {
			nodes = append(nodes, SubscribedNode{c.node, c.id})
		}
	}
	return nodes
}
