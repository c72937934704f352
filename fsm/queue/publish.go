package queue

import (
	"math"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
)

// Publish creates the messages that each publication asks for. A refused one changes nothing; the others are not
// affected.
func (s *Store) Publish(e *env.Env, p Publications) (Receipts, error) {
	out := Receipts{Items: make([]Receipt, len(p.Items))}
	made := 0
	for i := range p.Items {
		out.Items[i] = s.publish(e, &p.Items[i], "", made)
		made += len(out.Items[i].Messages)
	}
	s.trim(e)
	return out, nil
}

// target is one destination of a publication.
type target struct{ url, group, endpoint string }

// maxPublished is the largest number of messages that one request may make: an endpoint of a URL group is one. All nodes
// make them while other requests wait.
const maxPublished = 10_000

// publish makes the messages of one publication, of a schedule if that is named, in addition to those that its request has
// made already.
func (s *Store) publish(e *env.Env, p *Publication, schedule string, made int) Receipt {
	options := p.Options
	var targets []target
	if p.Group == "" {
		targets = []target{{url: p.URL}}
	} else {
		g := s.groups.find(p.Group)
		if g == nil {
			return Receipt{Refused: notFound("topic %s not found", p.Group)}
		}
		if n := made + len(g.Endpoints); n > maxPublished {
			return Receipt{Refused: invalid("a request makes at most %d messages, one for each endpoint of a topic: with topic %s it would make %d", maxPublished, g.Name, n)}
		}
		options = p.Options.Over(g.Options)
		for _, end := range g.Endpoints {
			targets = append(targets, target{end.URL, g.Name, end.Name})
		}
	}
	err := s.check(p, &options, e.Now)
	if err == nil {
		err = s.CheckShare(&options)
	}
	if err != nil {
		return Receipt{Refused: err}
	}
	if err := options.checkPause(); err != nil {
		return Receipt{Refused: err}
	}
	if err := s.roomToGather(e, p, &options, targets); err != nil {
		return Receipt{Refused: err}
	}
	out := Receipt{Group: p.Group != "", Messages: make([]Published, 0, len(targets))}
	var shared *body
	if len(targets) > 1 && len(p.Body) >= payload.Apart && !options.Gather.batches() {
		shared = s.share(p.Body)
	}
	sum := contentSum(p, &options)
	for _, t := range targets {
		key, once := dedupOf(p, &options, t, sum)
		if once = once && schedule == ""; once {
			if d, found := s.dedups.published(key, e.Now); found {
				out.Messages = append(out.Messages, Published{ID: d.id, URL: strings.Clone(t.url), Deduplicated: true})
				continue
			}
		}
		one := s.admitPublication(e, &Content{
			URL: t.url, API: p.API, Body: p.Body, Options: options, Group: t.group, Endpoint: t.endpoint,
			Schedule: schedule, CallerIP: p.CallerIP, Run: p.Run,
		}, shared)
		if once && !one.Deduplicated && !one.Attached {
			s.remember(key, dedup{id: one.ID}, e.Now)
		}
		one.URL = strings.Clone(t.url)
		out.Messages = append(out.Messages, one)
	}
	return out
}

// check judges a publication by the limits.
func (s *Store) check(p *Publication, o *Options, now int64) *Error {
	n := &s.settings
	over := func(v int64, limit int64) bool { return limit > 0 && v > limit }
	switch {
	case p.URL == "" && p.Group == "":
		return invalid("a non-empty destination must be provided")
	case strings.Contains(p.DedupID, ":"):
		return invalid(DedupRule)
	case o.Queue != "" && !ValidName(o.Queue):
		return invalid("invalid queue name %q: %s", o.Queue, nameRule)
	case o.Retries < 0 || o.Retries > math.MaxInt32:
		return invalid("invalid retries: %d", o.Retries)
	case o.Timeout < 0 || o.Delay < 0 || o.NotBefore < 0:
		return invalid("times must not be negative")
	case o.OnFailure >= onFailures:
		return invalid("invalid on-failure: use dead-letter or pause")
	case o.Flow != nil && (o.Flow.Key == "" || o.Flow.Parallelism < 0 || o.Flow.Rate < 0 || o.Flow.Period < 0 || o.Flow.Period > MaxPeriod):
		return invalid("invalid flow control: a key, a parallelism or rate of at least 1, and a period of at most 7 days")
	case o.Flow != nil && (o.Flow.Burst < 0 || o.Flow.Burst > MaxBurst || o.Flow.Burst > 0 && o.Flow.Rate == 0):
		return invalid("invalid burst: 1 to %d is wanted, and a rate", MaxBurst)
	case over(int64(len(p.Body)), n.MaxMessage):
		return quota("maxMessageSize")
	case over(int64(o.Retries), int64(n.MaxRetries)):
		return quota("maxRetries")
	case over(max(o.Delay, o.NotBefore-now), n.MaxDelay):
		return quota("maxDelay")
	case o.Flow != nil && over(int64(o.Flow.Parallelism), int64(n.MaxParallelism)):
		return quota("maxParallelism")
	}
	if err := s.checkGather(o); err != nil {
		return err
	}
	if o.Queue != "" {
		if err := s.roomForQueue(o.Queue); err != nil {
			return err
		}
	}
	return o.Precedence.check()
}

// create makes a message of c, which lacks nothing but its times, and has the body that several have if it is not nil.
func (s *Store) create(e *env.Env, c *Content, shared *body) *Message {
	c.Created, c.FirstAt = e.Now, e.Now
	until, ahead := e.Until(c.NotBefore)
	switch {
	case c.Given&GivenNotBefore != 0 && ahead:
		c.FirstAt = c.NotBefore
	case c.Given&GivenNotBefore != 0:
		c.FirstAt = max(c.NotBefore, e.Now)
		until = c.FirstAt
	case c.Given&GivenDelay != 0:
		c.FirstAt = addTime(e.Now, c.Delay)
		until = c.FirstAt
	case c.Gather.waits():
		c.FirstAt = addTime(e.Now, c.Gather.Wait)
		until = c.FirstAt
	default:
		until = e.Now
	}
	s.complete(e, c)
	m := &Message{ID: ID{s.next(), e.Uint64()}}
	s.fill(m, c, shared)
	switch {
	case c.Queue != "":
		m.queue = s.queueFor(c.Queue, e.Now)
	case c.Gather.isSingleton():
		m.queue = s.singletonQueue(c.gatherKey(), e.Now)
	}
	s.enterCounts(m, c, e.Now)
	s.record(m, e.Now, Event{State: Created})
	s.start(m, until, e.Now)
	s.store(m)
	if m.queue != 0 {
		s.admit(m.queue, e.Now)
	}
	return m
}

// complete gives a content what its publication left open.
func (s *Store) complete(e *env.Env, c *Content) {
	if c.Given&GivenRetries == 0 {
		c.Retries = s.settings.DefaultRetries
	}
	c.SaltRedaction(e)
}

// fill has m, which has no content, hold a complete one.
func (s *Store) fill(m *Message, c *Content, shared *body) {
	m.retries = uint32(c.Retries)
	c.kept = kept{reserves: (c.Callback != nil || c.Failure != nil) && len(c.Run) == 0}
	m.setContent(c, shared, s.keeper)
	s.hold(m)
}

// enterCounts counts m, which is live, in its flow-control key, in the shares of its tenant and in the memory.
func (s *Store) enterCounts(m *Message, c *Content, now int64) {
	if c.Flow != nil {
		s.joinFlowKey(m, c.Flow, now)
	}
	s.joinShares(m, c)
	s.memory.live += m.size() + m.reserved()
	s.memory.uncounted += m.uncounted()
}

// addTime adds without overflow.
func addTime(at, delay int64) int64 {
	if delay > math.MaxInt64-at {
		return math.MaxInt64
	}
	return at + delay
}

const nameRule = "use letters, digits, hyphens, underscores and dots"

// maxName is the longest name of a queue, group or schedule in bytes: names stand in URLs.
const maxName = 256

// ValidName reports whether a queue, a URL group or a schedule may be called so.
func ValidName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return len(s) > 0 && len(s) <= maxName
}
