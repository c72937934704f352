package resp

import (
	"time"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/internal/yield"
)

// Replies are sent as soon as their request is done: a client must not wait for the rest of its pipeline
// to learn of changes that others can see already. Replies of commands that only read may gather for
// gatherTime, which saves system calls.
const (
	// sendBytes bounds the replies that are encoded before they are sent: a reply of any
	// size needs little more memory than that, in addition to the send queue.
	sendBytes = 64 << 10
	// gatherBytes and gatherTime bound what gathers of commands that only read.
	gatherBytes = 16 << 10
	gatherTime  = time.Millisecond
	// maxBatchReply bounds the values, in bytes of memory, that a batch answers a connection
	// with; more of them are answered by a goroutine of the connection's own.
	maxBatchReply = 4 * sendBytes
	// maxIdleReplies bounds the reply buffer that an idle connection keeps.
	maxIdleReplies = 2 * sendBytes
)

// emit answers the command that is running. While more than the limit is queued for the
// client it waits, so a batch must not emit more than maxBatchReply.
func (c *conn) emit(v reply.Value) {
	if c.mute {
		return
	}
	c.awaitSubscribed() // their confirmations come first
	c.answered++
	if v.IsError() {
		c.lastError = v
	}
	c.replies = reply.Stream(c.replies, v, c.proto3, sendBytes, c.sendPartFn)
}

// emitPush answers with a push, which CLIENT REPLY doesn't silence, as by Redis.
func (c *conn) emitPush(v reply.Value) {
	mute := c.mute
	c.mute = false
	c.emit(v)
	c.mute = mute
}

// sendPart sends replies in the middle of an encoding, and lets other goroutines run: a long reply has many parts. The connection ends if that fails.
func (c *conn) sendPart(b []byte) []byte {
	if c.replies = b; c.flushReplies() != nil {
		c.ending = true
	}
	yield.Processor()
	return c.replies[:0]
}

// flush sends the replies and then deferred invalidations, and waits while the client reads
// too slowly.
func (c *conn) flush() error {
	err := c.flushReplies()
	if c.tracked != nil && err == nil && !c.answering {
		c.s.tracker.deliverDeferred(c.tracked)
	}
	return err
}

// flushDone sends the replies of a request that is done, at once if it may have changed
// something that others see.
func (c *conn) flushDone(wrote bool) {
	if !wrote && len(c.replies) < gatherBytes {
		if c.firstReplyAt.IsZero() {
			c.firstReplyAt = time.Now()
			return
		}
		if time.Since(c.firstReplyAt) < gatherTime {
			return
		}
	}
	if c.flushReplies() != nil {
		c.ending = true
	}
}

func (c *conn) flushReplies() error {
	if err := c.send(); err != nil {
		return err
	}
	return c.out.waitBelow(c.s.limits.OutputBytes)
}

// send writes the replies without waiting for the client.
func (c *conn) send() error {
	c.firstReplyAt = time.Time{}
	if len(c.replies) == 0 {
		return nil
	}
	err := c.out.send(c.replies)
	c.info.sizes.replies.Store(int64(cap(c.replies)))
	c.info.sizes.maxReply.Store(max(c.info.sizes.maxReply.Load(), int64(len(c.replies))))
	c.s.metrics.sent.Add(float64(len(c.replies)))
	c.population.out.Add(int64(len(c.replies)))
	if c.replies = c.replies[:0]; cap(c.replies) > maxIdleReplies {
		c.replies = nil
	}
	return err
}
