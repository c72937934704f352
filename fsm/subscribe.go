package fsm

import (
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
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

// Fields codes the value in its wire format.
func (sc *SubscriberCount) Fields(c *wire.Codec) {
	sc.Ref.Fields(c)
	wire.Uint(c, &sc.Count)
}

// Fields codes the value in its wire format.
func (s *Subscribers) Fields(c *wire.Codec) {
	c.Uvarint(&s.Hub)
	c.Uvarint(&s.Serial)
	wire.List(c, &s.Counts, 4)
}

// subscribe takes in a node's counts. From this place in the log on its subscribers get
// messages, which the note tells its hub.
func (s *State) subscribe(e *env.Env, n Subscribers) (Ack, error) {
	for _, c := range n.Counts {
		if !c.Kind.Valid() {
			return Ack{}, ErrMalformed
		}
	}
	s.channels.Greet(e.Session, n.Hub)
	for _, c := range n.Counts {
		if s.database(c.DB) == nil { // deleted meanwhile
			c.Count = 0
		}
		s.channels.Set(e.Session, c.Ref, c.Count)
	}
	e.Notifications = append(e.Notifications, env.Notification{Kind: env.Counted, Hub: n.Hub, Serial: n.Serial})
	return Ack{}, nil
}

// SessionRef names a session.
type SessionRef struct{ Session uint64 }

// Fields codes the value in its wire format.
func (sr *SessionRef) Fields(c *wire.Codec) { c.Uvarint(&sr.Session) }

// forgetSubscribers drops the subscribers of a node that the leader can't reach.
func (s *State) forgetSubscribers(e *env.Env, n SessionRef) (Ack, error) {
	s.dropSubscribers(e, n.Session)
	return Ack{}, nil
}

// dropSubscribers ends the subscriptions of a session. Should its node still live, it
// closes them when it comes to this place in the log.
func (s *State) dropSubscribers(e *env.Env, session uint64) {
	if hub, found := s.channels.Drop(session); found {
		e.Notifications = append(e.Notifications, env.Notification{Kind: env.Dropped, Hub: hub})
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
