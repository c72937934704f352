package messages

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// levelKnown remembers that a level was reached: levels are never lowered.
type levelKnown struct{ reached atomic.Uint32 }

// Known refuses options that not all nodes can read yet.
func (a *API) Known(ctx context.Context, o *queue.Options) error {
	return a.atLevel(ctx, o.Since())
}

// knows reports whether options can be read by all nodes, as far as is known without a look at the state.
func (a *API) knows(o *queue.Options) bool {
	since := o.Since()
	return since <= env.Base || uint32(since) <= a.level.reached.Load()
}

// atLevel refuses what needs a feature level that is not in force.
func (a *API) atLevel(ctx context.Context, since env.Level) error {
	known, err := a.reaches(ctx, since)
	if err == nil && !known {
		err = queue.LevelRule()
	}
	return err
}

// reaches reports whether a feature level is in force.
func (a *API) reaches(ctx context.Context, since env.Level) (bool, error) {
	if since <= env.Base || uint32(since) <= a.level.reached.Load() {
		return true, nil
	}
	var level env.Level
	if _, err := a.Engine.Read(ctx, fsm.Reading{}, func(v *fsm.View) { level = v.Level() }); err != nil || level < since {
		return false, err
	}
	a.level.reached.Store(uint32(level))
	return true, nil
}

// tenantShare is a tenant of a queue or a flow-control key.
type tenantShare struct {
	// Tenant is empty for messages without one.
	Tenant     string `json:"tenant"`
	Weight     int    `json:"weight"`
	Waiting    int    `json:"waiting"`
	Unfinished int    `json:"unfinished"`
}

// tenantPage is a page of the tenants of a queue or a key, with the cursor of the next one.
type tenantPage struct {
	Tenants []tenantShare `json:"tenants,omitempty"`
	Cursor  string        `json:"tenantsCursor,omitempty"`
}

// tenantLister returns the page of tenants that is asked for, nothing if none is.
type tenantLister func(list func(queue.NamePage) queue.NameList[queue.TenantInfo]) tenantPage

// tenants reads the parameter tenants of a read of a queue or a key, with count and cursor.
func (re *request) tenants() (tenantLister, error) {
	values, err := queryValues(re.Query)
	if err != nil {
		return nil, err
	}
	wanted, err := askedFor(values, "tenants")
	if err != nil || !wanted {
		return func(func(queue.NamePage) queue.NameList[queue.TenantInfo]) tenantPage { return tenantPage{} }, err
	}
	page, _, err := namePage(values)
	if err != nil {
		return nil, err
	}
	return func(list func(queue.NamePage) queue.NameList[queue.TenantInfo]) (out tenantPage) {
		got := list(page)
		for _, t := range got.Elements {
			out.Tenants = append(out.Tenants, tenantShare{t.Tenant, t.Weight, t.Waiting, t.Unfinished})
		}
		if got.More {
			out.Cursor = base64.RawURLEncoding.EncodeToString([]byte(got.Last))
		}
		return out
	}, nil
}

// askedFor reads a truth value of a query.
func askedFor(values url.Values, name string) (bool, error) {
	text := values.Get(name)
	wanted, err := strconv.ParseBool(text)
	if text != "" && err != nil {
		return false, Invalid("invalid %s %q: true or false is wanted", name, text)
	}
	return wanted, nil
}

// lineStanding says how a message stands among those that wait for the same.
type lineStanding struct {
	Priority int `json:"priority"`
	// Rank is the time, in unix milliseconds, that orders the messages of the tenant.
	Rank int64 `json:"rank"`
	Cost int   `json:"cost"`
	// Share is there if tenants share the queue or the key.
	Share *shareOf `json:"share,omitempty"`
}

// shareOf is the share of a message's tenant.
type shareOf struct {
	Tenant string `json:"tenant"`
	Weight int    `json:"weight"`
	// Weights is the sum of the weights of the tenants that have waiting messages, Tenants their number.
	Weights int `json:"weights"`
	Tenants int `json:"tenants"`
	// Waiting counts the tenant's messages that wait, Ahead those of them that come before this one.
	Waiting int `json:"waiting"`
	Ahead   int `json:"ahead"`
}

// renderStanding adds how a message stands to its explanation, in words too.
func (e *explanation) renderStanding(x *queue.Explanation) {
	n := x.Standing
	if n == nil {
		return
	}
	e.Standing = &lineStanding{Priority: n.Priority, Rank: n.Rank, Cost: n.Cost}
	var words []string
	if n.Priority > 0 {
		words = append(words, fmt.Sprintf("its priority is %d", n.Priority))
	}
	if n.Cost > 1 {
		words = append(words, fmt.Sprintf("it costs %d", n.Cost))
	}
	if n.Weights > 0 {
		e.Standing.Share = &shareOf{n.Tenant, n.Weight, n.Weights, n.Tenants, n.Waiting, n.OwnAhead}
		of := "what has no tenant"
		if n.Tenant != "" {
			of = "its tenant " + n.Tenant
		}
		words = append(words, fmt.Sprintf("%s has %d of %d parts among %d tenants that wait", of, n.Weight, n.Weights, n.Tenants))
	}
	if x.Flow != nil && x.Flow.Burst > 0 {
		words = append(words, tokensText(x.Tokens, x.Flow.Burst))
	}
	if len(words) > 0 {
		e.Text += "; " + strings.Join(words, ", ")
	}
}

// tokensText says what a bucket holds.
func tokensText(tokens, burst int) string {
	if tokens < 0 {
		return fmt.Sprintf("the key owes %d tokens", -tokens)
	}
	return fmt.Sprintf("the key has %d of %d tokens", tokens, burst)
}
