package cli

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// destinationRow is what deliveries to a host took.
type destinationRow struct {
	Host     string `json:"destination"`
	Attempts int    `json:"attempts"`
	Failed   int    `json:"failed"`
	P50      int64  `json:"p50Ms"`
	P99      int64  `json:"p99Ms"`
	Most     int64  `json:"maxMs"`
	Status   string `json:"lastFailure,omitempty"`
}

var destinationColumns = []column{
	{"DESTINATION", "destination", nil, named}, {"ATTEMPTS", "attempts", nil, keep}, {"FAILED", "failed", nil, keep}, {"P50", "p50Ms", millis, keep},
	{"P99", "p99Ms", millis, keep}, {"MAX", "maxMs", millis, drops}, {"LAST FAILURE", "lastFailure", nil, drops},
}

// destinations are the rows of the events that were read last.
type destinations struct {
	read  time.Time
	rows  []any
	since int64 // unix milliseconds of the oldest event
}

// destinationsEvery is the least time between two readings of events.
const destinationsEvery = 5 * time.Second

// destinations reads the newest events of the database, and says what attempts took by host. Readings are not repeated at once.
func (s *session) destinations(last *destinations) (*destinations, error) {
	if last != nil && time.Since(last.read) < destinationsEvery {
		return last, nil
	}
	newest, err := s.pages(&eventList, url.Values{"trimBody": {"1"}}, paging{limit: mostEvents})
	if err != nil {
		return nil, err
	}
	events, err := newest.values()
	if err != nil {
		return nil, err
	}
	d := &destinations{read: time.Now(), rows: []any{}}
	if len(events) > 0 {
		d.since, _ = number((column{member: "time"}).raw(events[len(events)-1]))
	}
	slices.Reverse(events)
	for _, row := range attemptsByHost(events) {
		d.rows = append(d.rows, row)
	}
	return d, nil
}

// attemptsByHost pairs ACTIVE events with their outcomes, the earliest first, and returns a row for each host, the slowest first.
func attemptsByHost(events []any) (rows []destinationRow) {
	begun := map[string]int64{}
	times := map[string][]int64{}
	of := map[string]*destinationRow{}
	for _, e := range events {
		id, state := textOf(e, "messageId"), textOf(e, "state")
		at, _ := number((column{member: "time"}).raw(e))
		if state == "ACTIVE" {
			begun[id] = at
			continue
		}
		from, open := begun[id]
		if !open || state != "DELIVERED" && state != "ERROR" && state != "FAILED" {
			continue
		}
		delete(begun, id)
		host := hostOf(textOf(e, "url"))
		row := of[host]
		if row == nil {
			row = &destinationRow{Host: host}
			of[host] = row
		}
		row.Attempts++
		times[host] = append(times[host], at-from)
		if state != "DELIVERED" {
			row.Failed++
			row.Status = first(nonZero(textOf(e, "responseStatus")), textOf(e, "error"))
		}
	}
	for host, row := range of {
		all := times[host]
		slices.Sort(all)
		at := func(q float64) int64 { return all[min(len(all)-1, int(q*float64(len(all))))] }
		row.P50, row.P99, row.Most = at(0.5), at(0.99), all[len(all)-1]
		rows = append(rows, *row)
	}
	slices.SortFunc(rows, func(a, b destinationRow) int {
		if a.P99 != b.P99 {
			return int(b.P99 - a.P99)
		}
		return strings.Compare(a.Host, b.Host)
	})
	return rows
}

func nonZero(text string) string {
	if text == "0" {
		return ""
	}
	return text
}

// hostOf is the host of a destination; one that is no URL is shown as it is.
func hostOf(destination string) string {
	if u, err := url.Parse(destination); err == nil && u.Host != "" {
		return u.Host
	}
	return destination
}
