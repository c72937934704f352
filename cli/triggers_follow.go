package cli

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/internal/plural"
)

// followTrigger adds the command that prints the entries of a change feed as they come.
func (g *group) followTrigger() {
	after, most := "", 0
	g.add(spec{
		use: "follow NAME", short: "Follow the changes that a trigger tells a stream", args: cobra.ExactArgs(1), complete: triggerNames,
		long: "Prints the changes from now on, as they come, until an interrupt; --output json prints a line for each. --after begins behind an\n" +
			"entry: where an earlier call has ended, which says so, or 0 for the oldest that the stream keeps. If the node goes away it is\n" +
			"asked again, behind the last entry. A gap in the numbers of the changes is told on standard error.",
		example: "triggers follow feed\ntriggers follow feed --after 1790000000000-17 --output json",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&after, "after", "", "begin behind the entry of this `ID` (0 = with the oldest)")
			f.IntVar(&most, "limit", 0, "end after this `NUMBER` of changes (0 = at an interrupt)")
		},
		run: func(s *session) error {
			if most < 0 {
				return Usagef("--limit must not be negative, got %d", most)
			}
			t, err := s.trigger(s.args[0])
			if err != nil {
				return err
			}
			if t.To != toStream {
				return errorf(ExitFailed, "the trigger %s makes a %s of a change: only one to a stream can be followed", t.Name, made[t.To])
			}
			f := feed{session: s, key: t.Stream, after: after, left: most}
			if err := f.begin(); err != nil {
				return err
			}
			return f.run()
		},
	})
}

var feedColumns = []column{
	{"ID", "id", nil, named}, {"EVENT", "event", nil, keep}, {"KEY", "key", nil, keep}, {"TYPE", "type", nil, keep},
	{"OLD", "old", excerpt, keep}, {"NEW", "new", excerpt, keep},
}

// excerpt shows the beginning of a value.
var excerpt = &form{text: func(v any) string { return cut(plain(v), longText) }}

// A feed is a stream that is followed.
type feed struct {
	*session
	key   string
	after string // the id of the last entry
	left  int    // entries to come, 0 = no limit
	alone bool   // one trigger writes to the stream, so its numbers have no gaps
	came  bool   // an entry has come
}

// errFeedEnd ends a feed whose limit is reached.
var errFeedEnd = errors.New("the limit is reached")

// begin finds where the feed begins, and prints the titles of CSV.
func (f *feed) begin() error {
	all, err := f.triggers()
	if err != nil {
		return err
	}
	writers := 0
	for _, t := range all {
		if t.Stream == f.key {
			writers++
		}
	}
	f.alone = writers == 1
	if f.after == "" {
		v, err := f.ask("XREVRANGE", f.key, "+", "-", "COUNT", "1")
		if err != nil {
			return err
		}
		f.after = "0-0"
		if list := v.Elems(); len(list) > 0 && len(list[0].Elems()) > 0 {
			f.after = list[0].Elems()[0].Text()
		}
	}
	if f.format == asCSV {
		return writeCSV(f.cmd.OutOrStdout(), nil, f.shown(feedColumns), true)
	}
	return nil
}

// reconnectAfter is the time between two calls of a node that has ended a stream.
const reconnectAfter = time.Second

// run prints entries until an interrupt or the limit. A node that ends the stream is asked again.
func (f *feed) run() error {
	for before := false; ; {
		opened, err := f.read()
		before = before || opened
		switch {
		case f.ctx.Err() != nil || errors.Is(err, errFeedEnd):
			if f.came && f.forPeople() {
				f.note("--after %s goes on", f.after)
			}
			return nil // an interrupt ends it normally
		case errors.Is(err, errStreamEnd):
			f.note("the stream of %s ended: asking again", f.Client.url)
		case before && !opened && ExitCode(err) != ExitDenied: // another try may find it
			f.note("%s", err)
		default:
			return err
		}
		select {
		case <-f.ctx.Done():
		case <-time.After(reconnectAfter):
		}
	}
}

// read prints the entries of one call, and reports whether the node has answered it.
func (f *feed) read() (opened bool, err error) {
	resp, err := f.Stream(f.ctx, "GET", f.in("/follow/"+escape(f.key)+"/"+escape(f.after)), nil)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	return true, readEvents(resp.Body, f.entry, func(reason string) { f.note("%s", printable(reason)) })
}

// entry prints an entry: an id, and fields with values in turn.
func (f *feed) entry(id, data string) error {
	var parts []json.RawMessage
	var words []string
	if json.Unmarshal([]byte(data), &parts) != nil || len(parts) != 2 || json.Unmarshal(parts[1], &words) != nil {
		return f.noNode()
	}
	f.tellGap(id)
	f.after, f.came = id, true
	var doc strings.Builder
	text, _ := encode(id) // which does not fail, as those below
	doc.WriteString(`{"id":` + string(text))
	for i := 0; i+1 < len(words); i += 2 {
		name, _ := encode(words[i])
		value, _ := encode(words[i+1])
		doc.WriteString("," + string(name) + ":" + string(value))
	}
	doc.WriteString("}")
	item, err := decode([]byte(doc.String()))
	if err != nil {
		return err
	}
	if err := f.event(f.cmd.OutOrStdout(), json.RawMessage(doc.String()), item, feedColumns); err != nil {
		return err
	}
	if f.left--; f.left == 0 {
		return errFeedEnd
	}
	return nil
}

// tellGap tells how many changes lie between the last entry and this one: those of which nothing could be made, and those that the
// stream does not keep any more. Ids end with the numbers of the changes.
func (f *feed) tellGap(id string) {
	last, now := changeOf(f.after), changeOf(id)
	if !f.alone || last == 0 || now <= last+1 {
		return
	}
	f.note("between %s and %s the stream lacks %s: it does not keep them any more, or they were missed", f.after, id, plural.Of(int(now-last-1), "change"))
}

// changeOf is the number of the change that the id of an entry ends with, 0 without one.
func changeOf(id string) uint64 {
	_, number, _ := strings.Cut(id, "-")
	n, _ := strconv.ParseUint(number, 10, 64) // 0 for what is none
	return n
}
