package httpapi

import (
	"context"
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/httpapi/fastpath"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// Messages that different connections publish to a URL each run together, as one request to the log: that request is what
// /v2/batch makes of its items.

// publishes reads a request to publish one message. It is false for any other request to the API of messages, and for
// one whose token this node doesn't know.
func (c *call) publishes() bool {
	var access messages.Access
	c.kind = kindOps
	bearer := acl.ParseBearer(appendCredential(c.scratch[:0], c.r, ""))
	c.s.engine.Local(func(v *fsm.View) {
		access = accessOf(v, c.db, &bearer)
		c.quota, _ = v.Quota(access.DB)
	})
	if c.quota.Rate > 0 { // it is counted where its answer can say so
		return false
	}
	if c.r.ContentLength > c.s.maxBody || c.hold(c.r.ContentLength) != nil {
		return false
	}
	c.publishing = c.s.messages.PreparePublishing(c.w, c.r, c.target(), access)
	return c.publishing != nil
}

func publishTogether(ctx context.Context, batch []fastpath.Request) {
	list := make([]*messages.Publishing, len(batch))
	for i, one := range batch {
		list[i] = one.(*call).publishing
	}
	messages.PublishTogether(ctx, list)
}

// answerPublishing answers a call that was published with others.
func (c *call) answerPublishing() {
	if c.failed != nil { // it panicked
		c.publishing.Failed(c.failed)
	}
	out, end := c.packs()
	w := &recorder{ResponseWriter: out, c: c, status: http.StatusOK}
	c.answered = true
	c.publishing.Reply(w)
	end()
	c.status, c.sent = w.status, w.sent
}
