package queue

import "github.com/trireme-dev/trireme/fsm/wire"

// Filter chooses messages, dead letters and events. Values of one field are alternatives, fields must all match, and an
// empty field matches everything.
type Filter struct {
	IDs       []ID
	URLs      []string
	Hosts     []string
	Paths     []string
	Groups    []string
	Queues    []string
	Schedules []string
	Labels    []string
	FlowKeys  []string
	CallerIPs []string
	// States count for events only.
	States []State
	// Statuses are status codes of the last answer; they apply to dead letters only.
	Statuses []int
	// From and To bound the time in unix milliseconds, both inclusive; 0 is open. It is the creation of messages, the
	// failure of dead letters, and the time of events.
	From, To int64
}

// lists are the fields that hold texts, in the order of the codec.
func (f *Filter) lists() []*[]string {
	return []*[]string{&f.URLs, &f.Hosts, &f.Paths, &f.Groups, &f.Queues, &f.Schedules, &f.Labels, &f.FlowKeys, &f.CallerIPs}
}

// Fields codes the value in its wire format. Decoded texts and bytes alias the input.
func (f *Filter) Fields(c *wire.Codec) {
	wire.List(c, &f.IDs, 2)
	for _, l := range f.lists() {
		c.Texts(l)
	}
	wire.Each(c, &f.States, func(c *wire.Codec, s *State) { s.field(c) })
	wire.Each(c, &f.Statuses, (*wire.Codec).Int)
	c.Varint(&f.From)
	c.Varint(&f.To)
}

// within reports whether a time is in the filter's bounds.
func (f *Filter) within(at int64) bool { return at >= f.From && (f.To == 0 || at <= f.To) }

// content reports whether the filter may match by what a message is; it spares decoding where no such field is set.
func (f *Filter) content() bool {
	return len(f.URLs)+len(f.Hosts)+len(f.Paths)+len(f.Groups)+len(f.Queues)+len(f.Schedules)+len(f.Labels)+len(f.FlowKeys)+len(f.CallerIPs) > 0
}
