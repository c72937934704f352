package queue

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
)

// The prices of operations on messages: what they do is computed from their arguments and the state before.

const (
	// messageWork is the work, in steps, of making a message, ending one or moving it through several places.
	messageWork = 50
	// lookWork is the work of testing a record against a filter: its content is decoded.
	lookWork = 5
	// endpointWork is the work of finding an endpoint of a group, comparing it and writing it.
	endpointWork = 6
)

// bytesWork is the work of reading or writing so many bytes, in steps.
func bytesWork(n int64) int64 { return n / env.BytesPerWork }

// codedText is the most bytes that coding adds to a text.
const codedText = 4

func textsSize(texts ...string) (n int64) {
	for _, t := range texts {
		n += codedText + int64(len(t))
	}
	return n
}

// size is at least what options take when they are coded, and not much more.
func (o *Options) size() int64 {
	n := 56 + textsSize(o.Method, o.RetryDelay, o.Queue, o.Trace.Parent, o.Trace.State)
	for _, f := range o.Header {
		n += textsSize(f.Name, f.Value)
	}
	n += textsSize(o.Labels...)
	for _, b := range [...]*Callback{o.Callback, o.Failure} {
		if b != nil {
			n += textsSize(b.URL) + b.Options.size()
		}
	}
	if o.Flow != nil {
		n += 24 + textsSize(o.Flow.Key)
	}
	if o.Precedence != nil {
		n += 24 + textsSize(o.Precedence.Tenant)
	}
	if o.Gather != nil {
		n += 48 + textsSize(o.Gather.Key)
	}
	if o.Redact != nil {
		n += 48 + textsSize(o.Redact.Names...)
	}
	return n
}

// headSize is at least what a message's Content takes when it is coded without its body.
func headSize(o *Options, texts ...string) int64 { return 32 + o.size() + textsSize(texts...) }

// messageGrowth is the growth by a message with a head of that length, without its body.
func messageGrowth(head int64, o *Options) int64 {
	n := messageCost + eventCost + head
	for _, b := range [...]*Callback{o.Callback, o.Failure} {
		if b != nil {
			n += reserveFor(head)
		}
	}
	return n
}

// MessageGrowth is the growth by a message of a run, which has no events and no body of its own.
func MessageGrowth(o *Options, texts ...string) int64 {
	if o == nil {
		o = &Options{}
	}
	return messageCost + headSize(o, texts...) + runRef
}

// runRef is the most that a message says of its run.
const runRef = 32

// BulkGrowth is the growth by a bulk action with a filter of so many bytes.
func BulkGrowth(filter int64) int64 { return bulkCost + filter + 64 }

// publication is the price of one publication.
func (s *Store) publication(p *Publication) (cost env.Price) {
	head := headSize(&p.Options, p.URL, p.API, p.CallerIP) + int64(len(p.Run))
	options, targets := &p.Options, 1
	if p.Group != "" {
		g := s.groups.find(p.Group)
		if g == nil || len(g.Endpoints) > maxPublished {
			return env.Price{Work: operation} // it is refused
		}
		targets = len(g.Endpoints)
		if g.Options.Given != 0 {
			merged := p.Options.Over(g.Options)
			options = &merged
			head = headSize(options, p.API, p.CallerIP) + int64(len(p.Run))
		}
		for i := range g.Endpoints {
			cost.Growth += textsSize(g.Endpoints[i].URL, g.Endpoints[i].Name)
		}
		head += textsSize(g.Name)
	}
	one := env.Price{Work: messageWork + 2*bytesWork(head), Growth: messageGrowth(head, options)}
	line, joins := s.joins(p, options)
	if joins { // and has its share of the next one
		g, whole := options.Gather, one.Growth+gatheringCost
		one.Growth += whole/int64(g.Size) + whole*line/g.Bytes - messageCost - eventCost - head
	}
	b := int64(len(p.Body))
	if p.DedupID != "" || p.ContentDedup {
		one.Work, one.Growth = one.Work+operation, one.Growth+dedupCost
		cost.Work += bytesWork(b)
	}
	one.Add(gatherPrice(options, p.Body, joins))
	switch {
	case options.Gather.batches():
	case b < payload.Apart:
		one.Growth += b + codedText
	default:
		cost.Growth += countedOf(len(p.Body)) + codedText
	}
	cost.Work += 3 * bytesWork(b)
	cost.Add(one.Times(targets))
	cost.Growth += s.newNames(options)
	cancelled := int64(s.replaced(p, options))
	cost.Work, cost.Growth = cost.Work+messageWork*cancelled, cost.Growth+cancelGrowth*cancelled
	return cost
}

// DestinationPrice returns the price of a publish to a URL or a group, whose options take so many bytes beside the body, as a command has them.
func (s *Store) DestinationPrice(destination string, options int64, body int) env.Price {
	destination = strings.TrimSpace(destination)
	targets := 1
	if g := s.groups.find(destination); g != nil && !isURL(destination) {
		if len(g.Endpoints) > maxPublished {
			return env.Price{Work: operation}
		}
		targets, options = len(g.Endpoints), options+g.Options.size()
	}
	one := env.Price{Work: messageWork + operation + 2*bytesWork(options), Growth: messageCost + eventCost + options}
	p := one.Times(targets)
	p.Work += 4 * bytesWork(int64(body))
	return p
}

// operation is the work of an operation that finds little to do, in steps.
const operation = 10

// newNames is the growth by the queue and the flow-control key of options, if they are new.
func (s *Store) newNames(o *Options) (bytes int64) {
	if o.Queue != "" && s.queues.named(o.Queue) == nil {
		bytes += queueCost(&Queue{Name: o.Queue})
	}
	if o.Flow != nil {
		if _, known := s.flows.byName.Get(o.Flow.Key); !known {
			bytes += flowCost(&FlowKey{Key: o.Flow.Key})
		}
	}
	return bytes + s.newShares(o)
}

// newShares is the growth by the shares of the tenant of options.
func (s *Store) newShares(o *Options) (bytes int64) {
	tenant := o.TenantOf()
	if tenant == "" {
		return 0
	}
	add := func(of uint64) {
		if s.places.shares.of(of, tenant) != 0 {
			return
		}
		bytes += (&share{Tenant: tenant}).size()
		if s.places.shares.size(of) == 0 {
			bytes += lineCost
		}
	}
	if o.Queue != "" {
		no, _ := s.queues.byName.Get(o.Queue)
		add(no)
	}
	if o.Flow != nil {
		no, _ := s.flows.byName.Get(o.Flow.Key)
		add(no)
	}
	return bytes
}

// PublishPrice returns the price of Publish.
func (s *Store) PublishPrice(_ *env.Env, p *Publications, limit int64) env.Price {
	return env.Sum(p.Items, limit, s.publication)
}

// scanPrice returns the price of holding a filter against records, n at most, and of ending or deleting limit of them at most.
func scanPrice(f *Filter, n, limit int) env.Price {
	return env.Price{Work: operation + 2*f.size() + lookWork*int64(min(n, MaxScan)) + messageWork*int64(min(n, limit))}
}

// CancelPrice returns the price of Cancel: in pieces, as the caller goes on until there are no More.
func (s *Store) CancelPrice(_ *env.Env, n *Cancellation) env.Price {
	if len(n.IDs) > 0 {
		return env.Price{Work: operation + messageWork*int64(len(n.IDs))}
	}
	limit := maxCancel
	if n.Limit > 0 {
		limit = min(limit, n.Limit)
	}
	return scanPrice(&n.Filter, s.countAfter(n.After), limit)
}

// countAfter returns the number of messages after a number.
func (s *Store) countAfter(seq uint64) int {
	i, _ := s.messages.Rank(seq + 1)
	return s.messages.Len() - i
}

// BulkPrice returns the price of BulkCancel: in pieces.
func (s *Store) BulkPrice(_ *env.Env, n *BulkCancellation) env.Price {
	switch b := s.bulk.Find(n.ID); {
	case n.Act == BulkStart:
		cost := scanPrice(&n.Filter, min(s.messages.Len(), bulkScan), maxCancel)
		cost.Growth = BulkGrowth(n.Filter.coded())
		cost.Work += 3 * bytesWork(cost.Growth)
		return cost
	case b != nil && n.Act == BulkStep:
		f := b.filter()
		return scanPrice(&f, min(s.countAfter(b.After), bulkScan), maxCancel)
	}
	return env.Price{Work: operation}
}

// coded is at least what the filter takes when it is coded.
func (f *Filter) coded() int64 {
	n := 64 + 20*int64(len(f.IDs)) + 4*int64(len(f.States)+len(f.Statuses))
	for _, l := range f.lists() {
		n += textsSize(*l...)
	}
	return n
}

// ChangeQueuePrice returns the price of ChangeQueue: a pause, a resume and a deletion move what holds a slot, or gets one.
func (s *Store) ChangeQueuePrice(_ *env.Env, n *QueueChange) env.Price {
	q := s.queues.named(n.Name)
	if q == nil {
		if n.Act == ActPut {
			return env.Price{Work: operation, Growth: queueCost(&Queue{Name: n.Name})}
		}
		return env.Price{Work: operation}
	}
	held := count(s.places.slots, q.no)
	moved := held
	if n.Act != ActDelete {
		moved += min(count(s.places.backlog, q.no), max(q.Parallelism, n.Parallelism))
	} else {
		moved += count(s.places.holding, q.no) + min(count(s.places.backlog, q.no), maxCancel)
	}
	return env.Price{Work: operation + messageWork/2*int64(moved)}
}

// SchedulePrice returns the price of PutSchedule.
func (s *Store) SchedulePrice(_ *env.Env, n *SchedulePut) env.Price {
	p := &n.Publish
	size := scheduleCost + int64(len(p.Body)) + 2*p.Options.size() + textsSize(p.URL, p.Group, p.API, p.CallerIP, p.DedupID, n.Cron, n.ID)
	return env.Price{Work: messageWork + 4*bytesWork(size), Growth: size + dedupCost + 64}
}

// RunSchedulePrice returns the price of RunSchedule.
func (s *Store) RunSchedulePrice(_ *env.Env, n *ScheduleRef) env.Price {
	c, ok := s.schedules.byID.Get(n.ID)
	if !ok {
		return env.Price{Work: operation}
	}
	return s.tickPrice(c)
}

// tickPrice is the price of one tick of a schedule.
func (s *Store) tickPrice(c *Schedule) env.Price {
	p := s.publication(&c.Publish)
	targets := int64(1)
	if g := s.groups.find(c.Publish.Group); g != nil {
		targets = int64(len(g.Endpoints))
	}
	p.Growth += textsSize(c.ID) * targets // each message names the schedule
	return p
}

// ChangeGroupPrice returns the price of ChangeGroup: the group is written anew.
func (s *Store) ChangeGroupPrice(_ *env.Env, n *GroupChange) env.Price {
	var before int64
	endpoints := len(n.Endpoints)
	if g := s.groups.find(n.Name); g != nil {
		before = groupCost(g)
		endpoints += len(g.Endpoints)
	}
	if n.Act == ActDelete {
		return env.Price{Work: operation + int64(endpoints)}
	}
	after := groupCost(&Group{Name: n.Name, Endpoints: n.Endpoints, Header: n.Header})
	cost := env.Price{Work: operation + endpointWork*int64(endpoints) + 4*bytesWork(before+after)}
	if n.Act != ActRemoveEndpoints {
		cost.Growth = after
	}
	if before > 0 { // what every group counts is there
		cost.Growth = max(0, cost.Growth-groupCost(&Group{Name: n.Name}))
	}
	return cost
}

// FlowControlPrice returns the price of ChangeFlowControl.
func (s *Store) FlowControlPrice(_ *env.Env, n *FlowControlChange) env.Price {
	if n.Act == ActPin || n.Act == ActPause {
		return env.Price{Work: operation, Growth: s.newNames(&Options{Flow: &FlowControl{Key: n.Key}})}
	}
	return env.Price{Work: operation}
}

// DeleteDeadPrice returns the price of DeleteDead: in pieces.
func (s *Store) DeleteDeadPrice(_ *env.Env, n *DeadSelection) env.Price {
	if len(n.IDs) > 0 {
		return env.Price{Work: operation + messageWork*int64(len(n.IDs))}
	}
	return scanPrice(&n.Filter, s.dead.Len(), MaxDeadPage)
}

// RetryDeadPrice returns the price of RetryDead: in pieces, of which each makes as many messages as a request may. It sets n.Limit to
// that number if n has no ids.
func (s *Store) RetryDeadPrice(_ *env.Env, n *DeadRetry, limit int64) env.Price {
	cost := s.DeleteDeadPrice(nil, &n.DeadSelection)
	list, _, _, err := s.selectDead(&n.DeadSelection)
	if err != nil {
		return cost
	}
	for i, t := range list {
		one := s.retryPrice(t, &n.Options)
		if i > 0 && len(n.IDs) == 0 && cost.Work+one.Work > limit {
			n.Limit = i
			break
		}
		cost.Add(one)
	}
	return cost
}

// retryPrice is the price of publishing a dead letter anew. Its body is that of the message that failed.
func (s *Store) retryPrice(t Stamp, o *Options) env.Price {
	m, _ := s.messages.Get(t.Seq)
	if m == nil {
		return env.Price{}
	}
	head := int64(m.head.Len()) + o.size()
	c := m.envelope()
	options := o.Over(c.Options)
	p := env.Price{Work: messageWork + 2*bytesWork(head), Growth: messageGrowth(head, &options) + s.newNames(&options)}
	p.Growth += countedOf(m.apart().Len()) + codedText
	return p
}

// ChangeSchedulePrice returns the price of ChangeSchedule.
func (s *Store) ChangeSchedulePrice(*env.Env, *ScheduleChange) env.Price {
	return env.Price{Work: messageWork}
}

// ClaimPrice is the price of an Advance that claims so many attempts: it moves up to maxWork messages.
func (s *Store) ClaimPrice(e *env.Env, claims int) env.Price {
	due := s.dueBy(e.Now)
	open, _ := s.flows.openings.Rank(Stamp{At: e.Now + 1})
	late, _ := s.places.leases.Rank(Stamp{At: e.Now + 1})
	claimed := min(claims, MaxClaims, due+s.places.waiting.Len())
	return env.Price{
		Work:   operation + messageWork*int64(min(due+open+late, maxWork)+claimed),
		Growth: eventCost*int64(claimed) + lostGrowth*int64(min(late, maxWork)),
	}
}

// lostGrowth is the growth by the loss of an attempt: two events and why.
const lostGrowth = 2*eventCost + 128

// ResultPrice is the price of the result of an attempt: its events, a dead letter, and callbacks.
func (s *Store) ResultPrice(n *Result) env.Price {
	m := s.current(n.AttemptRef)
	if m == nil {
		return env.Price{Work: operation}
	}
	p := env.Price{Work: 2*messageWork + 3*bytesWork(int64(n.Response.BodySize())), Growth: eventCost}
	if !n.Response.ok() {
		p.Growth = resultGrowth(n)
	}
	for _, kind := range [...]calls{callsBack, callsFailure} {
		if m.calls&kind != 0 {
			size := 1024 + 2*int64(m.head.Len()) + 2*headerSize(n.Response.Header) + int64(4*(n.Response.BodySize()+m.apart().Len()))/3
			p.Add(env.Price{Work: messageWork + 8*bytesWork(size), Growth: messageCost + eventCost + int64(m.head.Len()) + countedOf(int(size))})
		}
	}
	return p
}
