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
	c      *conn
	sub    *pubsub.Subscription
	proto3 atomic.Bool
	total  atomic.Int64 // names that are subscribed to
	stop   chan struct{}
	done   chan struct{} // closed when the goroutine has ended
	ready  chan struct{} // receives when all subscriptions asked for are confirmed

	mu     sync.Mutex
	as     acl.Identity
	names  [3]ordered           // that the client knows to be subscribed to, by kind
	due    []channel.Ref        // the confirmations that the client waits for, in its order
	begun  map[channel.Ref]bool // those of due whose subscription has begun
	held   []pubsub.Event       // messages that came before the confirmation of their subscription
	events []pubsub.Event
	out    []byte
}

// ordered is a set of names that keeps the order in which they were added.
type ordered struct {
	at   map[string]int
	list []string // with holes
}

func (o *ordered) add(name string) {
	if o.at == nil {
		o.at = map[string]int{}
	}
	if _, there := o.at[name]; !there {
		o.at[name] = len(o.list)
		o.list = append(o.list, name)
	}
}

func (o *ordered) remove(name string) {
	i, there := o.at[name]
	if !there {
		return
	}
	delete(o.at, name)
	o.list[i] = ""
	if len(o.at) == 0 {
		o.list = nil
	}
}

func (o *ordered) has(name string) bool {
	_, there := o.at[name]
	return there
}

// all returns the names in the order in which they were added.
func (o *ordered) all() (names []string) {
	for i, name := range o.list {
		if at, there := o.at[name]; there && at == i {
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
		c: c, sub: c.s.hub.Subscribe(c.database()), as: c.as, begun: map[channel.Ref]bool{},
		stop: make(chan struct{}), done: make(chan struct{}), ready: make(chan struct{}, 1),
	}
	f.proto3.Store(c.proto3)
	c.subscriber = f
	c.s.intakes.add(c)
	go f.pump() // ends with stop, or with the subscription or the connection
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

// pump sends messages until it is stopped. A subscription that ends by itself ends the
// connection: messages are missing, or the user may not have them any more.
func (f *subscriber) pump() {
	defer close(f.done)
	for {
		select {
		case <-f.sub.Wake():
		case <-f.stop:
			return
		}
		f.mu.Lock()
		err := f.deliver()
		f.mu.Unlock()
		if err == nil {
			err = f.c.out.waitBelow(f.c.s.limits.OutputBytes)
		}
		if err != nil {
			f.end()
			return
		}
	}
}

// end closes the connection, unless it has ended the subscription by itself.
func (f *subscriber) end() {
	select {
	case <-f.stop:
	default:
		f.c.kill()
	}
}

// deliver sends the messages that wait; the lock is held. After an error nothing follows.
func (f *subscriber) deliver() error {
	if !f.permitted() {
		return pubsub.ErrClosed
	}
	var ended error
	f.events, ended = f.sub.Take(f.events)
	f.out = f.out[:0]
	for i := range f.events {
		f.event(&f.events[i])
	}
	if len(f.out) > 0 {
		if err := f.c.out.send(f.out); err != nil {
			return err
		}
	}
	if cap(f.out) > maxIdleReplies {
		f.out = nil
	}
	return ended
}

// permitted reports whether the user may still have all messages; the lock is held.
func (f *subscriber) permitted() (ok bool) {
	f.c.s.engine.Local(func(v *fsm.View) {
		user := v.User(f.as)
		if ok = user != nil; !ok || user.Free() {
			return
		}
		for kind := range f.names {
			for name := range f.names[kind].at { // unordered: all have to be permitted
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
func (f *subscriber) event(e *pubsub.Event) {
	switch {
	case e.Confirmed:
		f.begun[channel.Ref{Kind: e.Kind, Name: e.Name}] = true
		f.confirm()
	case len(f.held) > 0 || !f.names[e.Kind].has(e.Name):
		f.held = append(f.held, *e)
	default:
		f.message(e)
	}
}

// confirm sends the confirmations that are due, in the order of the client's words, up to the
// first name whose subscription has not begun. After the last one come the messages that were
// held back for it.
func (f *subscriber) confirm() {
	for len(f.due) > 0 && f.begun[f.due[0]] {
		ref := f.due[0]
		f.due = f.due[1:]
		f.names[ref.Kind].add(ref.Name)
		f.push(reply.Push(reply.Bulk(subscribeWords[ref.Kind]), reply.Bulk(ref.Name), reply.Int(f.count(ref.Kind))))
	}
	if len(f.due) > 0 {
		return
	}
	clear(f.begun)
	for i := range f.held {
		f.message(&f.held[i])
	}
	f.held = nil
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// message encodes a message; the lock is held.
func (f *subscriber) message(e *pubsub.Event) {
	switch {
	case e.Kind == channel.Pattern:
		f.push(reply.Push(reply.Bulk(messageWords[e.Kind]), reply.Bulk(e.Name), reply.Bulk(e.Channel), reply.Bulk(e.Message)))
	default:
		f.push(reply.Push(reply.Bulk(messageWords[e.Kind]), reply.Bulk(e.Channel), reply.Bulk(e.Message)))
	}
}

func (f *subscriber) push(v reply.Value) {
	if f.proto3.Load() {
		f.out = reply.AppendRESP3(f.out, v)
	} else {
		f.out = reply.AppendRESP2(f.out, v)
	}
}

// count returns the number that a confirmation reports: channels and patterns together, shard channels
// by themselves. The lock is held.
func (f *subscriber) count(kind channel.Kind) int64 {
	channels, patterns, shards := len(f.names[channel.Plain].at), len(f.names[channel.Pattern].at), len(f.names[channel.Shard].at)
	f.total.Store(int64(channels + patterns + shards))
	f.c.info.set(func(t *attributes) { t.subs, t.psubs, t.ssubs = channels, patterns, shards })
	if kind == channel.Shard {
		return int64(shards)
	}
	return int64(channels + patterns)
}
