package resp

import (
	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// whileSubscribed are the commands that a connection of the older protocol may send while
// it subscribes to something.
var whileSubscribed = map[string]bool{
	"subscribe": true, "psubscribe": true, "ssubscribe": true, "unsubscribe": true, "punsubscribe": true, "sunsubscribe": true,
	"ping": true, "quit": true, "reset": true,
}

// subscribes are the commands that may follow each other without waiting for the log in between.
var subscribes = map[string]bool{"subscribe": true, "psubscribe": true, "ssubscribe": true}

// subscribed reports whether the connection subscribes to anything.
func (c *conn) subscribed() bool { return c.subscriber != nil && c.subscriber.total.Load() > 0 }

func (c *conn) subscribe(argv [][]byte)    { c.subscribeTo(channel.Plain, argv[1:]) }
func (c *conn) psubscribe(argv [][]byte)   { c.subscribeTo(channel.Pattern, argv[1:]) }
func (c *conn) unsubscribe(argv [][]byte)  { c.unsubscribeFrom(channel.Plain, argv[1:]) }
func (c *conn) punsubscribe(argv [][]byte) { c.unsubscribeFrom(channel.Pattern, argv[1:]) }
func (c *conn) sunsubscribe(argv [][]byte) { c.unsubscribeFrom(channel.Shard, argv[1:]) }

// ssubscribe is refused in a transaction, as by Redis, whose other subscriptions are not.
func (c *conn) ssubscribe(argv [][]byte) {
	if c.answering {
		c.emit(reply.Error("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client"))
		return
	}
	c.subscribeTo(channel.Shard, argv[1:])
}

// subscribeTo subscribes to names. A subscription begins at an index of the log, so that takes one commit: awaitSubscribed waits for
// it before whatever is no subscription follows, or at the end of the round. So the subscriptions of a pipeline share a commit.
func (c *conn) subscribeTo(kind channel.Kind, words [][]byte) {
	if c.s.hub == nil {
		c.emit(reply.Error("ERR this server has no channels"))
		return
	}
	if c.flush() != nil { // the subscriber sends the confirmations itself, after earlier replies
		c.ending = true
		return
	}
	f := c.openSubscriber()
	names, asked := make([]string, 0, len(words)), make(map[string]bool, len(words))
	due := make([]channel.Ref, len(words))
	for i, word := range words {
		name := string(word)
		due[i] = channel.Ref{Kind: kind, Name: name}
		if !asked[name] {
			asked[name] = true
			names = append(names, name)
		}
	}
	if err := f.add(kind, names, due); err != nil {
		c.emit(reply.Error(c.s.hub.TooMany()))
		return
	}
	if c.subscribing = true; c.answering { // replies of the transaction follow
		c.awaitSubscribed()
	}
}

// awaitSubscribed waits until all subscriptions of the connection are confirmed.
func (c *conn) awaitSubscribed() {
	if !c.subscribing {
		return
	}
	c.subscribing = false
	for c.subscriber.waits() {
		select {
		case <-c.subscriber.ready:
		case <-c.subscriber.done:
			c.ending = true
			return
		}
	}
}

// add subscribes to names, and has the confirmations due sent in that order, after those that are due already. An error says that
// nothing was added.
func (s *subscriber) add(kind channel.Kind, names []string, due []channel.Ref) error {
	s.mu.Lock() // no confirmation is handled before it is due
	defer s.mu.Unlock()
	if err := s.sub.Add(kind, names...); err != nil {
		return err
	}
	s.due = append(s.due, due...)
	return nil
}

// waits reports whether confirmations are due.
func (s *subscriber) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.due) > 0
}

// awaitCounted waits until no PUBLISH counts what this connection unsubscribed from.
func (c *conn) awaitCounted() { c.s.hub.WaitCounted(c.s.life) }

// awaitUncounted waits before a read of how many subscribers there are, as fsm.Execute does
// before a PUBLISH.
func (c *conn) awaitUncounted(row *command.Command) {
	if row.Group() == "pubsub" && row.Flags&command.Write == 0 && c.s.hub != nil {
		c.runPipeline()
		defer c.suspendIntake()()
		c.s.hub.AwaitUncounted(c.s.life, c.database())
	}
}

// unsubscribeFrom ends subscriptions, without names all of a kind, and answers when the log
// has the new counts.
func (c *conn) unsubscribeFrom(kind channel.Kind, words [][]byte) {
	c.removeSubscriptions(kind, words)
	if c.subscriber != nil && !c.ending {
		c.awaitCounted()
	}
}

func (c *conn) removeSubscriptions(kind channel.Kind, words [][]byte) {
	names := make([]string, len(words))
	for i, word := range words {
		names[i] = string(word)
	}
	f := c.subscriber
	if f == nil {
		c.confirmUnsubscribed(kind, names, func(string) int64 { return 0 })
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(words) == 0 {
		names = f.names[kind].all()
	}
	f.sub.Remove(kind, names...)
	if f.deliver() != nil { // messages of before
		c.ending = true
		return
	}
	c.confirmUnsubscribed(kind, names, func(name string) int64 {
		f.names[kind].remove(name)
		return f.count(kind)
	})
}

// confirmUnsubscribed answers for each name, or once without any.
func (c *conn) confirmUnsubscribed(kind channel.Kind, names []string, remove func(name string) int64) {
	word := reply.Bulk(unsubscribeWords[kind])
	for _, name := range names {
		c.emitPush(reply.Push(word, reply.Bulk(name), reply.Int(remove(name))))
	}
	if len(names) == 0 {
		n := int64(0)
		if c.subscriber != nil {
			n = c.subscriber.count(kind)
		}
		c.emitPush(reply.Push(word, reply.Nil(), reply.Int(n)))
	}
}
