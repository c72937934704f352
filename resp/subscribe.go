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

// subscribeTo subscribes to names and returns when all are confirmed: a subscription begins
// at an index of the log, so that takes one commit.
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
	f.await(due)
	if f.sub.Add(kind, names...) != nil {
		f.await(nil)
		c.emit(reply.Error(c.s.hub.TooMany()))
		return
	}
	select {
	case <-f.ready:
	case <-f.done:
		c.ending = true
	}
}

// await sets the confirmations that the client waits for.
func (s *subscriber) await(due []channel.Ref) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = due
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
