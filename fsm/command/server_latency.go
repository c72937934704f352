package command

import (
	"fmt"
	"math"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// figureRows are the commands that tell or reset what the node that answers has counted.
// In an apply, where no node answers by itself, they have nothing to tell.
func figureRows() []Command {
	row := func(name string, arity int, flags Flags, version, complexity, syntax, summary string, run Handler) Command {
		return Command{Name: name, Arity: arity, Flags: flags, Cost: costConstant, Doc: Doc{Info: whileLoading, Version: version, Complexity: complexity,
			Syntax: syntax, Summary: summary}, Run: run}
	}
	const own = Admin | NoScript
	return []Command{
		row("config resetstat", 2, own, "2.0.0", "O(n), where n is the number of commands", "CONFIG RESETSTAT", "Forgets what the node that answers has counted.", resetStat),
		row("latency doctor", 2, own, "2.8.13", "O(n), where n is the number of events", "LATENCY DOCTOR", "Says of the node that answers which commands took very long.", latencyDoctor).described(whileLoading, "nondeterministic_output request_policy:all_nodes response_policy:special"),
		row("latency graph", 3, own, "2.8.13", "O(1)", "LATENCY GRAPH event", "Draws how long an event took on the node that answers.", latencyGraph).described(whileLoading, "nondeterministic_output request_policy:all_nodes response_policy:special"),
		row("latency histogram", -2, own, "7.0.0", "O(n), where n is the number of commands", "LATENCY HISTOGRAM [command ...]", "Returns how many calls the node that answers took up to how long for.", latencyHistogram).described(whileLoading, "nondeterministic_output request_policy:all_nodes response_policy:special"),
		row("latency history", 3, own, "2.8.13", "O(n), where n is the number of samples", "LATENCY HISTORY event", "Returns when an event took how long on the node that answers.", latencyHistory).described(whileLoading, "nondeterministic_output request_policy:all_nodes response_policy:special"),
		row("latency latest", 2, own, "2.8.13", "O(n), where n is the number of events", "LATENCY LATEST", "Returns the newest sample of every event of the node that answers.", latencyLatest).described(whileLoading, "nondeterministic_output request_policy:all_nodes response_policy:special"),
		row("latency reset", -2, own, "2.8.13", "O(n), where n is the number of events", "LATENCY RESET [event ...]", "Forgets events of the node that answers, and returns how many.", latencyReset).described(whileLoading, "request_policy:all_nodes response_policy:all_succeeded"),
		row("slowlog get", -2, Admin, "2.2.12", "O(n), where n is the number of entries", "SLOWLOG GET [count]", "Returns the newest calls that took the node that answers longer than 10 ms.", slowlogGet).described(whileLoading, "request_policy:all_nodes nondeterministic_output", Change{"4.0.0", "Tells the address and the name of the client."}),
		row("slowlog len", 2, Admin, "2.2.12", "O(n), where n is the number of entries", "SLOWLOG LEN", "Returns how many slow calls the node that answers has kept.", slowlogLen).described(whileLoading, "request_policy:all_nodes response_policy:agg_sum nondeterministic_output"),
		row("slowlog reset", 2, Admin, "2.2.12", "O(n), where n is the number of entries", "SLOWLOG RESET", "Forgets the slow calls of the node that answers.", slowlogReset).described(whileLoading, "request_policy:all_nodes response_policy:all_succeeded"),
	}
}

func resetStat(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	if f := tx.figures(); f != nil {
		f.Reset(tx.DB.Freed(), int64(tx.DB.Evicted()))
		f.ResetExpired(tx.DB.Expired())
	}
	return reply.OK()
}

// slowlogDefault is the number of calls that SLOWLOG GET shows without a count.
const slowlogDefault = 10

func slowlogGet(tx *Tx, a *Args) reply.Value {
	n := int64(slowlogDefault)
	if a.Left() > 1 {
		return a.badSubcommand()
	}
	if a.Left() > 0 {
		if n = a.IntOr(reply.Error("ERR count should be greater than or equal to -1")); n < -1 {
			a.Fail(reply.Error("ERR count should be greater than or equal to -1"))
		}
	}
	if err, ok := a.Done(); !ok {
		return err
	}
	f := tx.figures()
	if f == nil || n == 0 {
		return reply.Array()
	}
	var calls []reply.Value
	for _, c := range f.Slow(int(min(n, math.MaxInt32))) {
		words := make([]reply.Value, len(c.Argv))
		for i, w := range c.Argv {
			words[i] = reply.Bulk(w)
		}
		calls = append(calls, reply.Array(reply.Int(c.ID), reply.Int(c.At), reply.Int(c.Micros), reply.Array(words...), reply.Bulk(c.Addr), reply.Bulk(c.Name)))
	}
	return reply.Array(calls...)
}

func slowlogLen(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	if f := tx.figures(); f != nil {
		return reply.Int(int64(len(f.Slow(-1))))
	}
	return reply.Int(0)
}

func slowlogReset(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	if f := tx.figures(); f != nil {
		f.ResetSlow()
	}
	return reply.OK()
}

// latencyHistogram shows, of each command that was called, the calls by powers of two of
// microseconds, sums from the shortest on, as Redis does. A container stands for its
// subcommands.
func latencyHistogram(tx *Tx, a *Args) reply.Value {
	asked := map[string]bool{}
	for _, name := range lowered(a) {
		asked[name] = true
	}
	f := tx.figures()
	if f == nil {
		return reply.Map()
	}
	var all []reply.Value
	for _, c := range f.Calls() {
		head, _, _ := strings.Cut(c.Name, "|")
		if c.Calls > 0 && (len(asked) == 0 || asked[c.Name] || asked[head]) {
			all = append(all, reply.Bulk(c.Name), reply.Map(reply.Bulk("calls"), reply.Int(c.Calls), reply.Bulk("histogram_usec"), c.spans()))
		}
	}
	return reply.Map(all...)
}

// spans are the histogram's places from one microsecond on that have something new.
func (f *CallFigures) spans() reply.Value {
	var all []reply.Value
	sum, shown := int64(0), int64(0)
	for i, n := range f.Histogram {
		if sum += n; i >= 10 && sum > shown {
			all = append(all, reply.Int(1<<i/1000), reply.Int(sum))
			shown = sum
		}
	}
	return reply.Map(all...)
}

// spike is an event by its name, nil if there was none.
func (tx *Tx) spike(name string) *Spike {
	if f := tx.figures(); f != nil {
		for _, s := range f.Spikes() {
			if s.Event == name {
				return &s
			}
		}
	}
	return nil
}

func latencyLatest(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	var all []reply.Value
	if f := tx.figures(); f != nil {
		for _, s := range f.Spikes() {
			last := s.Samples[len(s.Samples)-1]
			all = append(all, reply.Array(reply.Bulk(s.Event), reply.Int(last.At), reply.Int(last.Millis), reply.Int(s.Most)))
		}
	}
	return reply.Array(all...)
}

func latencyHistory(tx *Tx, a *Args) reply.Value {
	event := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	var all []reply.Value
	if s := tx.spike(event); s != nil {
		for _, one := range s.Samples {
			all = append(all, reply.Array(reply.Int(one.At), reply.Int(one.Millis)))
		}
	}
	return reply.Array(all...)
}

func latencyReset(tx *Tx, a *Args) reply.Value {
	var names []string
	for _, word := range a.Rest() {
		names = append(names, string(word))
	}
	if f := tx.figures(); f != nil {
		return reply.Int(int64(f.ResetSpikes(names)))
	}
	return reply.Int(0)
}

// latencyGraph draws a column for each sample, as high as its part of the highest.
func latencyGraph(tx *Tx, a *Args) reply.Value {
	event := a.String()
	if err, ok := a.Done(); !ok {
		return err
	}
	s := tx.spike(event)
	if s == nil {
		return reply.Error("ERR No samples available for event '" + shown(event) + "'")
	}
	low, high := s.Samples[0].Millis, int64(1)
	for _, one := range s.Samples {
		low, high = min(low, one.Millis), max(high, one.Millis)
	}
	out := fmt.Sprintf("%s - high %d ms, low %d ms (all time high %d ms)\n", event, high, low, s.Most)
	const rows = 4
	for r := int64(rows); r > 0; r-- {
		for _, one := range s.Samples {
			if one.Millis*rows >= r*high {
				out += "#"
			} else {
				out += " "
			}
		}
		out += "\n"
	}
	return reply.Verbatim(out)
}

// latencyDoctor tells of what took very long.
func latencyDoctor(tx *Tx, a *Args) reply.Value {
	if err, ok := a.Done(); !ok {
		return err
	}
	var out strings.Builder
	if f := tx.figures(); f != nil {
		for i, s := range f.Spikes() {
			sum := int64(0)
			for _, one := range s.Samples {
				sum += one.Millis
			}
			fmt.Fprintf(&out, "%d. %s: %d latency spikes (average %d ms, worst all time %d ms).\n", i+1, s.Event, len(s.Samples), sum/int64(len(s.Samples)), s.Most)
		}
	}
	if out.Len() == 0 {
		return reply.Verbatim("No command took this node longer than 100 ms since it started. The metrics have more figures.\n")
	}
	return reply.Verbatim("Commands took this node longer than 100 ms:\n\n" + out.String() +
		"\nA write waits for the disks of a majority: look at those, and at SLOWLOG GET for the commands.\n")
}
