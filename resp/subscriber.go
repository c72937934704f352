package resp

import (
	"sync"
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/pubsub"
)

// A subscriber holds a connection's subscriptions. Its goroutine sends their messages between the
// replies; the connection's own goroutine adds and removes names.
type subscriber struct {
	pump
	sub    *pubsub.Subscription
	proto3 atomic.Bool
	total  atomic.Int64  // names that are subscribed to
	ready  chan struct{} // receives after all subscriptions asked for were confirmed

	mu     sync.Mutex
	as     acl.Identity
	names  [3]orderedNames      // that the client knows to be subscribed to, by kind
	due    []channel.Ref        // the confirmations that the client waits for, in its order
	begun  map[channel.Ref]bool // those of due whose subscription has begun
	held   []pubsub.Event       // messages that came before the confirmation of their subscription
	events []pubsub.Event
	out    []byte
}

// orderedNames is a set of names that keeps the order in which they were added.
type orderedNames struct {
	at   map[string]int
	list []string // with holes
}

func (n *orderedNames) add(name string) {
	if n.at == nil {
		n.at = map[string]int{}
	}
	if _, found := n.at[name]; !found {
		n.at[name] = len(n.list)
		n.list = append(n.list, name)
	}
}

func (n *orderedNames) remove(name string) {
	i, found := n.at[name]
	if !found {
		return
	}
	delete(n.at, name)
	n.list[i] = ""
	if len(n.at) == 0 {
		n.list = nil
	}
}

func (n *orderedNames) has(name string) bool {
	_, found := n.at[name]
	return found
}

// all returns the names in the order in which they were added.
func (n *orderedNames) all() (names []string) {
	for i, name := range n.list {
		if at, found := n.at[name]; found && at == i {
			names = append(names, name)
		}
	}
	return names
}

// openSubscriber returns the connection's subscriber, made if there is none.
func (c *conn) openSubscriber() *subscriber {
	if c.subscriber != nil {
		return c.subscriber
	}
	f := &subscriber{
		pump: newPump(c), sub: c.s.hub.Subscribe(c.database()), as: c.as, begun: map[channel.Ref]bool{}, ready: make(chan struct{}, 1),
	}
	f.proto3.Store(c.proto3)
	c.subscriber = f
	c.s.intakes.add(c)
	go f.run() // ends with stop, or with the subscription or the connection
	return f
}

// closeSubscriber ends the connection's subscriptions and its monitor.
func (c *conn) closeSubscriber() {
	c.closeMonitor()
	if c.subscriber == nil {
		return
	}
	close(c.subscriber.stop)
	c.subscriber.sub.Close()
	c.s.intakes.remove(c)
	<-c.subscriber.done
	c.subscriber = nil
	c.info.set(func(t *attributes) { t.subs, t.psubs, t.ssubs = 0, 0, 0 })
}

// moveSubscriber ends the subscriptions of a connection that has changed its database;
// otherwise they continue as the new user's.
func (c *conn) moveSubscriber(before acl.Identity) {
	switch {
	case before.Known() && before.DB != c.as.DB:
		c.closeSubscriber()
	case c.subscriber != nil:
		c.subscriber.mu.Lock()
		c.subscriber.as = c.as
		c.subscriber.mu.Unlock()
	}
}

// run sends messages until it is stopped. A subscription that ends by itself ends the
// connection: messages are missing, or the user may not have them any more.
func (s *subscriber) run() {
	defer close(s.done)
	for {
		select {
		case <-s.sub.Wake():
		case <-s.stop:
			return
		}
		s.mu.Lock()
		err := s.deliver()
		s.mu.Unlock()
		if err == nil {
			err = s.c.out.waitBelow(s.c.s.limits.OutputBytes)
		}
		if err != nil {
			s.end()
			return
		}
	}
}

// deliver sends the messages that wait; the lock is held. After an error nothing follows.
func (s *subscriber) deliver() error {
	if !s.permitted() {
		return pubsub.ErrClosed
	}
	var ended error
	s.events, ended = s.sub.Take(s.events)
	s.out = s.out[:0]
	for i := range s.events {
		s.event(&s.events[i])
	}
	if len(s.out) > 0 {
		if err := s.c.out.send(s.out); err != nil {
			return err
		}
	}
	if cap(s.out) > maxIdleReplies {
		s.out = nil
	}
	return ended
}

// permitted reports whether the user may still have all messages; the lock is held.
func (s *subscriber) permitted() (ok bool) {
	s.c.s.engine.Local(func(v *fsm.View) {
		user := v.User(s.as)
		if ok = user != nil; !ok || user.Free() {
			return
		}
		for kind := range s.names {
			for name := range s.names[kind].at { // unordered: all have to be permitted
				ok = ok && user.Subscribes(name, channel.Kind(kind) == channel.Pattern)
			}
		}
	})
	return ok
}

// The first words of messages and confirmations, by kind.
var (
	messageWords     = [...]string{channel.Plain: "message", channel.Pattern: "pmessage", channel.Shard: "smessage"}
	subscribeWords   = [...]string{channel.Plain: "subscribe", channel.Pattern: "psubscribe", channel.Shard: "ssubscribe"}
	unsubscribeWords = [...]string{channel.Plain: "unsubscribe", channel.Pattern: "punsubscribe", channel.Shard: "sunsubscribe"}
)

// event encodes a message, or the confirmations that have become due; the lock is held.
func (s *subscriber) event(e *pubsub.Event) {
	switch {
	case e.Confirmed:
		s.begun[channel.Ref{Kind: e.Kind, Name: e.Name}] = true
		s.confirm()
	case len(s.held) > 0 || !s.names[e.Kind].has(e.Name):
		s.held = append(s.held, *e)
	default:
		s.message(e)
	}
}

// confirm sends the confirmations that are due, in the order of the client's words, up to the
// first name whose subscription has not begun. After the last one come the messages that were
// held back for it.
func (s *subscriber) confirm() {
	for len(s.due) > 0 && s.begun[s.due[0]] {
		ref := s.due[0]
		s.due = s.due[1:]
		s.names[ref.Kind].add(ref.Name)
		s.push(reply.Push(reply.Bulk(subscribeWords[ref.Kind]), reply.Bulk(ref.Name), reply.Int(s.count(ref.Kind))))
	}
	if len(s.due) > 0 {
		return
	}
	clear(s.begun)
	for i := range s.held {
		s.message(&s.held[i])
	}
	s.held = nil
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// message encodes a message; the lock is held.
func (s *subscriber) message(e *pubsub.Event) {
	switch {
	case e.Kind == channel.Pattern:
		s.push(reply.Push(reply.Bulk(messageWords[e.Kind]), reply.Bulk(e.Name), reply.Bulk(e.Channel), reply.Bulk(e.Message)))
	default:
		s.push(reply.Push(reply.Bulk(messageWords[e.Kind]), reply.Bulk(e.Channel), reply.Bulk(e.Message)))
	}
}

func (s *subscriber) push(v reply.Value) {
	if s.proto3.Load() {
		s.out = reply.AppendRESP3(s.out, v)
	} else {
		s.out = reply.AppendRESP2(s.out, v)
	}
}

// count returns the number that a confirmation reports: channels and patterns together, shard channels
// by themselves. The lock is held.
func (s *subscriber) count(kind channel.Kind) int64 {
	channels, patterns, shards := len(s.names[channel.Plain].at), len(s.names[channel.Pattern].at), len(s.names[channel.Shard].at)
	s.total.Store(int64(channels + patterns + shards))
	s.c.info.set(func(t *attributes) { t.subs, t.psubs, t.ssubs = channels, patterns, shards })
	if kind == channel.Shard {
		return int64(shards)
	}
	return int64(channels + patterns)
}
