package queue

import (
	"fmt"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

const (
	// MaxPriority is the most urgent priority; 0 is the least, and that of messages without one.
	MaxPriority = 9
	// PriorityStep is how much longer, in milliseconds, a message has to wait than another to count as much as one of the next
	// higher priority. Ranks are static: nothing is sorted again as time goes by, and nothing waits for ever.
	PriorityStep = 60_000
	// MaxWeight is the largest weight of a tenant. The weight of one that has none, and of messages without a tenant, is 1.
	MaxWeight = 1_000
	// MaxCost is the highest cost of a message. That of one that has none is 1.
	MaxCost = 1_000_000
	// maxTenantName is the longest name of a tenant in bytes.
	maxTenantName = 256
)

// Precedence says how a message stands among those that wait for the same queue, flow-control key, host or sender. It never changes.
type Precedence struct {
	// Given names the parts that count.
	Given Part
	// Priority is 0 to MaxPriority.
	Priority int
	// Tenant is whose share of its queue and of its flow-control key the message takes; empty is one tenant of its own.
	Tenant string
	// Weight is that of the tenant from this message on.
	Weight int
	// Cost is the number of messages that it counts for: in rate and parallelism of its flow-control key, and in the share of its tenant.
	Cost int
}

// Part is a set of parts of a Precedence.
type Part uint8

// The parts.
const (
	PartPriority Part = 1 << iota
	PartTenant
	PartWeight
	PartCost
)

// Fields codes the value in its wire format. Decoded texts alias the input.
func (p *Precedence) Fields(c *wire.Codec) {
	wire.Uint(c, &p.Given)
	c.Int(&p.Priority)
	c.Text(&p.Tenant)
	c.Int(&p.Weight)
	c.Int(&p.Cost)
}

// over is base with the parts that p names in place of base's. Either may be nil.
func (p *Precedence) over(base *Precedence) *Precedence {
	if p == nil || base == nil {
		if p == nil {
			return base
		}
		return p
	}
	out := *base
	out.Given |= p.Given
	if p.Given&PartPriority != 0 {
		out.Priority = p.Priority
	}
	if p.Given&PartTenant != 0 {
		out.Tenant = p.Tenant
	}
	if p.Given&PartWeight != 0 {
		out.Weight = p.Weight
	}
	if p.Given&PartCost != 0 {
		out.Cost = p.Cost
	}
	return &out
}

// PriorityOf is the priority of a message with these options.
func (o *Options) PriorityOf() int {
	if o.Precedence == nil {
		return 0
	}
	return min(max(o.Precedence.Priority, 0), MaxPriority)
}

// TenantOf is the tenant of a message with these options, empty for none.
func (o *Options) TenantOf() string {
	if o.Precedence == nil {
		return ""
	}
	return o.Precedence.Tenant
}

// CostOf is the cost of a message with these options.
func (o *Options) CostOf() int {
	if o.Precedence == nil {
		return 1
	}
	return min(max(o.Precedence.Cost, 1), MaxCost)
}

// marks say of a message what of its precedence its places are about: its priority in the last bits, and whether to decode the rest.
type marks uint8

const (
	marksTenant marks = 1 << (iota + priorityBits)
	marksCost
)

func (m marks) priority() int { return int(m & (1<<priorityBits - 1)) }

func marksOf(o *Options) marks {
	if o.Precedence == nil {
		return 0
	}
	m := marks(o.PriorityOf())
	if o.Precedence.Tenant != "" {
		m |= marksTenant
	}
	if o.CostOf() > 1 {
		m |= marksCost
	}
	return m
}

// cost is that of a message.
func (m *Message) cost() int {
	if m.marks&marksCost == 0 {
		return 1
	}
	return m.envelope().CostOf()
}

// Since is the feature level from which on all nodes can read the options.
func (o *Options) Since() env.Level {
	if o.Precedence != nil || o.Gather != nil || o.OnFailure != DeadLetter || o.Flow != nil && o.Flow.Burst != 0 {
		return env.Files
	}
	for _, c := range [...]*Callback{o.Callback, o.Failure} {
		if c != nil && c.Options.Since() > env.Base {
			return env.Files
		}
	}
	return env.Base
}

// DropNew drops what Since is about, for nodes that can't read it.
func (o *Options) DropNew() {
	o.Precedence, o.Gather, o.OnFailure = nil, nil, DeadLetter
	o.Given &^= GivenPrecedence | GivenGather | GivenOnFailure
	if o.Flow != nil && o.Flow.Burst != 0 {
		f := *o.Flow
		f.Burst = 0
		o.Flow = &f
	}
	for _, c := range [...]**Callback{&o.Callback, &o.Failure} {
		if *c != nil {
			n := **c
			n.Options.DropNew()
			*c = &n
		}
	}
}

// LevelRule refuses options that not all nodes can read yet.
func LevelRule() *Error {
	return invalid("priority, tenant, weight, cost, burst, debounce, batch, singleton and on-failure need feature level %d: upgrade all nodes", env.Files)
}

// check refuses a precedence that is out of bounds.
func (p *Precedence) check() *Error {
	switch {
	case p == nil:
		return nil
	case p.Priority < 0 || p.Priority > MaxPriority:
		return invalid("invalid priority: %d; use 0 to %d", p.Priority, MaxPriority)
	case p.Weight < 0 || p.Weight > MaxWeight:
		return invalid("invalid weight: %d; use 1 to %d", p.Weight, MaxWeight)
	case p.Cost < 0 || p.Cost > MaxCost:
		return invalid("invalid cost: %d; use 1 to %d", p.Cost, MaxCost)
	case len(p.Tenant) > maxTenantName:
		return invalid("invalid tenant: a name of at most %d bytes is wanted", maxTenantName)
	}
	return nil
}

// CheckShare refuses a tenant or a cost that would count nowhere, and a tenant too many.
func (s *Store) CheckShare(o *Options) *Error {
	p := o.Precedence
	switch {
	case p == nil:
		return nil
	case p.Weight > 0 && p.Tenant == "":
		return invalid("a weight needs a tenant")
	case (p.Tenant != "" || p.Cost > 0) && o.Queue == "" && o.Flow == nil:
		return invalid("a tenant and a cost need a queue or a flow-control key: they count there")
	case p.Tenant == "":
		return nil
	}
	if q := s.queues.named(o.Queue); q != nil && !s.places.shares.fits(q.no, p.Tenant) {
		return tooManyTenants("queue", o.Queue)
	}
	if o.Flow != nil {
		if no, known := s.flows.byName.Get(o.Flow.Key); known && !s.places.shares.fits(no, p.Tenant) {
			return tooManyTenants("flow-control key", o.Flow.Key)
		}
	}
	return nil
}

func tooManyTenants(of, name string) *Error {
	return &Error{Code: ErrQuota.Code, Text: fmt.Sprintf("too many tenants: the %s %s has messages of %d that are not done. Limit: %d", of, name, MaxTenants, MaxTenants)}
}

// precedence is that of a configuration, with one part more.
func (c *Config) precedence(part Part) *Precedence {
	if c.p.Precedence == nil {
		c.p.Precedence = &Precedence{}
	}
	c.p.Given |= GivenPrecedence
	c.p.Precedence.Given |= part
	return c.p.Precedence
}

func (c *Config) priority(v string) string {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > MaxPriority {
		return "use an integer of 0, the least urgent, to 9"
	}
	c.precedence(PartPriority).Priority = n
	return ""
}

func (c *Config) tenant(v string) string {
	if len(v) > maxTenantName || !FitsHeader(v) {
		return "use a name of at most 256 bytes"
	}
	c.precedence(PartTenant).Tenant = v
	return ""
}

func (c *Config) weight(v string) string {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > MaxWeight {
		return "use an integer of 1 to 1000"
	}
	c.precedence(PartWeight).Weight = n
	return ""
}

func (c *Config) cost(v string) string {
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > MaxCost {
		return "use an integer of 1 to 1000000"
	}
	c.precedence(PartCost).Cost = n
	return ""
}
