package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var eventList = listing{
	path: "/v2/events", key: "events", id: "messageId", most: mostEvents,
	columns: []column{
		{"TIME", "time", when, keep}, {"STATE", "state", stateForm, keep}, {"MESSAGE", "messageId", nil, named}, {"DESTINATION", "url", nil, keep},
		{"STATUS", "responseStatus", statusForm, drops}, {"ERROR", "error", nil, drops}, {"QUEUE", "queueName", nil, wide}, {"LABEL", "label", nil, wide},
	},
}

// eventsCommand lists events of messages, and follows them.
func eventsCommand() *cobra.Command {
	var selected filters
	var p paging
	follow := false
	return newCommand(&group{scope: ofDatabase}, spec{
		use: "events", short: "List the events of messages, the latest first, or follow them",
		long:    "With --follow it prints what happens from now on, the earliest first, until an interrupt; --output json prints a line for\neach event then. --from begins earlier. Events of workflow runs are in runs logs.",
		example: "events --state ERROR,FAILED --from 1h\nevents --follow --queue orders",
		view:    watched,
		flags: func(f *pflag.FlagSet) {
			selected.flags(f, []filter{stateFilter, messageFilter, orderFilter}, common, hostFilters)
			p.flags(f)
			f.BoolVarP(&follow, "follow", "f", false, "print events as they happen")
		},
		run: func(s *session) error {
			query, err := selected.query(time.Now())
			if err != nil {
				return err
			}
			switch {
			case follow && s.watch:
				return Usagef("both --follow and --watch are given: give one of them")
			case follow:
				s.unpage()
				return s.follow(query, max(s.interval, leastInterval))
			}
			return s.printPage(&eventList, query, p)
		},
	})
}

// follow prints events as they come. They have the times of one clock that never goes back, so that asking again from
// the last time on misses none; those of that time that were printed are left out.
func (s *session) follow(query url.Values, every time.Duration) error {
	query.Set("order", "earliestFirst")
	if err := s.fromNow(query); err != nil {
		return err
	}
	if s.format == asCSV { // the row of titles
		if err := writeCSV(s.cmd.OutOrStdout(), nil, s.shown(eventList.columns), true); err != nil {
			return err
		}
	}
	f := follower{s: s, at: -1, printed: map[string]int{}}
	for {
		list, err := s.pages(&eventList, query, paging{})
		switch {
		case s.ctx.Err() != nil:
			return nil // an interrupt ends it normally
		case ExitCode(err) == ExitUnreachable && f.at >= 0: // another try may find it
			s.note("%s", err)
		case err != nil:
			return err
		}
		if err := f.print(list.items); err != nil {
			return err
		}
		if f.at >= 0 {
			query.Set("fromDate", strconv.FormatInt(f.at, 10))
		}
		select {
		case <-s.ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// fromNow has a query begin after the newest event, unless it says where.
func (s *session) fromNow(query url.Values) error {
	if query.Has("fromDate") {
		return nil
	}
	last, err := s.pages(&eventList, nil, paging{limit: 1})
	if err != nil {
		return err
	}
	if newest, _ := last.values(); len(newest) > 0 {
		at, _ := number(column{member: "time"}.raw(newest[0]))
		query.Set("fromDate", strconv.FormatInt(at+1, 10))
	}
	return nil
}

// follower prints events that it has not printed yet.
type follower struct {
	s       *session
	at      int64          // the last time, -1 before the first event
	printed map[string]int // what was printed of that time, and how often
}

func (f *follower) print(events []json.RawMessage) error {
	again := map[string]int{}
	for _, raw := range events {
		item, err := decode(raw)
		if err != nil {
			return err
		}
		if now, _ := number(column{member: "time"}.raw(item)); now != f.at {
			f.at, f.printed, again = now, map[string]int{}, map[string]int{}
		}
		if again[string(raw)]++; again[string(raw)] <= f.printed[string(raw)] {
			continue
		}
		f.printed[string(raw)]++
		if err := f.s.event(f.s.cmd.OutOrStdout(), raw, item, eventList.columns); err != nil {
			return err
		}
	}
	return nil
}

// event prints one event in a line; in YAML as a document.
func (s *session) event(w io.Writer, raw json.RawMessage, item any, columns []column) (err error) {
	switch {
	case s.format == asJSON:
		_, err = fmt.Fprintf(w, "%s\n", raw)
	case s.format == asYAML:
		if _, err = fmt.Fprintln(w, "---"); err == nil {
			err = writeYAML(w, raw)
		}
	case s.quiet:
		_, err = fmt.Fprintln(w, plain(nameOf(columns).raw(item)))
	case s.path != nil:
		err = writeMatches(w, raw, s.path)
	default:
		columns = s.shown(columns)
		if s.format == asCSV {
			return writeCSV(w, []any{item}, columns, false)
		}
		cells := make([]string, len(columns))
		for i, c := range columns {
			one := s.cell(c, item, false) // a time stays true
			cells[i] = s.to.paint(one.style, one.text)
		}
		_, err = fmt.Fprintln(w, strings.Join(cells, "  "))
	}
	return err
}
