package resp

import (
	"context"
	"time"

	"trireme/fsm/channel"
	"trireme/fsm/reply"
)

// whileSubscribed are the commands that a connection of the older protocol may send while
// it subscribes to something.
var whileSubscribed = map[string]bool{
	"subscribe": true, "psubscribe": true, "ssubscribe": true, "unsubscribe": true, "punsubscribe": true, "sunsubscribe": true,
	"ping": true, "quit": true, "reset": true,
}

// subscribed tells whether the connection subscribes to anything.
func (c *conn) subscribed() bool { return c.feed != nil && c.feed.total.Load() > 0 }

func (c *conn) subscribe(argv [][]byte)    { c.join(channel.Plain, argv[1:]) }
func (c *conn) psubscribe(argv [][]byte)   { c.join(channel.Pattern, argv[1:]) }
func (c *conn) ssubscribe(argv [][]byte)   { c.join(channel.Shard, argv[1:]) }
func (c *conn) unsubscribe(argv [][]byte)  { c.part(channel.Plain, argv[1:]) }
func (c *conn) punsubscribe(argv [][]byte) { c.part(channel.Pattern, argv[1:]) }
func (c *conn) sunsubscribe(argv [][]byte) { c.part(channel.Shard, argv[1:]) }

// join subscribes to names and returns when all of them are confirmed: a subscription
// begins at a place in the log, so that is a round through it.
func (c *conn) join(kind channel.Kind, words [][]byte) {
	if c.s.hub == nil {
		c.emit(reply.Error("ERR this server has no channels"))
		return
	}
	if c.flush() != nil { // confirmations are sent beside the replies, and come after those
		c.ending = true
		return
	}
	f := c.openFeed()
	var names []string
	f.mu.Lock()
	for _, word := range words {
		ref := channel.Ref{Kind: kind, Name: string(word)}
		if f.awaited[ref] == 0 {
			names = append(names, ref.Name)
		}
		f.awaited[ref]++
		f.due++
	}
	f.mu.Unlock()
	f.sub.Add(kind, names...)
	select {
	case <-f.stood:
	case <-f.done:
		c.ending = true
	}
}

// settleFor bounds how long the end of a subscription waits for the log; a node without a
// leader still lets its subscribers go.
const settleFor = time.Second

// settle waits until no PUBLISH counts what this connection has left.
func (c *conn) settle() {
	ctx, cancel := context.WithTimeout(c.s.life, settleFor)
	defer cancel()
	c.s.hub.Settle(ctx)
}

// part ends subscriptions, all of a kind without names, and answers when the log knows.
func (c *conn) part(kind channel.Kind, words [][]byte) {
	c.leave(kind, words)
	if c.feed != nil && !c.ending {
		c.settle()
	}
}

func (c *conn) leave(kind channel.Kind, words [][]byte) {
	names := make([]string, len(words))
	for i, word := range words {
		names[i] = string(word)
	}
	f := c.feed
	if f == nil {
		c.parted(kind, names, func(string) int64 { return 0 })
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(words) == 0 {
		names = f.names[kind].all()
	}
	f.sub.Remove(kind, names...)
	if f.deliver() != nil { // what has come before
		c.ending = true
		return
	}
	c.parted(kind, names, func(name string) int64 {
		f.names[kind].remove(name)
		return f.count(kind)
	})
}

// parted answers for each name, or once without any.
func (c *conn) parted(kind channel.Kind, names []string, remove func(name string) int64) {
	word := reply.Bulk(unsubscribeWords[kind])
	for _, name := range names {
		c.emit(reply.Push(word, reply.Bulk(name), reply.Int(remove(name))))
	}
	if len(names) == 0 {
		n := int64(0)
		if c.feed != nil {
			n = c.feed.count(kind)
		}
		c.emit(reply.Push(word, reply.Nil(), reply.Int(n)))
	}
}
