package cli

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// filterKind is the syntax of a filter's value.
type filterKind int

const (
	textFilter filterKind = iota // may be given several times, values are alternatives
	timeFilter
	switchFilter
)

// A filter is a flag that selects, with the parameter of the API that it sets.
type filter struct {
	flag, parameter, usage string
	kind                   filterKind
}

// common are the filters of messages, dead letters and events.
var common = []filter{
	{"destination", "url", "destination `URL`", textFilter},
	{"group", "topicName", "`NAME` of a URL group", textFilter},
	{"queue", "queueName", "`NAME` of a queue", textFilter},
	{"schedule", "scheduleId", "`ID` of a schedule", textFilter},
	{"label", "label", "`LABEL`", textFilter},
	{"flow-control-key", "flowControlKey", "flow-control `KEY`", textFilter},
	{"caller-ip", "callerIp", "`ADDRESS` of the publisher", textFilter},
	{"from", "fromDate", "earliest `TIME`: RFC 3339, unix milliseconds, or a duration ago such as 90m", timeFilter},
	{"to", "toDate", "latest `TIME`, likewise", timeFilter},
}

var (
	hostFilters = []filter{
		{"host", "host", "`HOST` of the destination", textFilter},
		{"path", "path", "`PATH` of the destination", textFilter},
	}
	messageFilter = filter{"message", "messageId", "`ID` of a message", textFilter}
	orderFilter   = filter{"order", "order", "`ORDER`: earliestFirst or latestFirst", textFilter}
	stateFilter   = filter{"state", "state", "`STATE` of the event, such as DELIVERED", textFilter}
)

// filters are the values of some filters.
type filters struct {
	known    []filter
	texts    map[string]*[]string
	switches map[string]*bool
}

func (fi *filters) flags(f *pflag.FlagSet, lists ...[]filter) {
	fi.texts, fi.switches = map[string]*[]string{}, map[string]*bool{}
	for _, list := range lists {
		for _, one := range list {
			fi.known = append(fi.known, one)
			if one.kind == switchFilter {
				fi.switches[one.flag] = f.Bool(one.flag, false, one.usage)
			} else {
				fi.texts[one.flag] = f.StringArray(one.flag, nil, one.usage)
			}
		}
	}
}

// query returns the given filters as parameters of the API.
func (fi *filters) query(now time.Time) (url.Values, error) {
	q := url.Values{}
	for _, one := range fi.known {
		if one.kind == switchFilter {
			if *fi.switches[one.flag] {
				q.Set(one.parameter, "true")
			}
			continue
		}
		for _, text := range *fi.texts[one.flag] {
			if text == "" {
				return nil, usagef("--%s is empty: an empty filter would select everything", one.flag)
			}
			if one.kind == timeFilter {
				ms, err := readTime(text, now)
				if err != nil {
					return nil, usagef("--%s: %w", one.flag, err)
				}
				text = strconv.FormatInt(ms, 10)
			}
			q.Add(one.parameter, text)
		}
	}
	return q, nil
}

// readTime reads a time as unix milliseconds.
func readTime(text string, now time.Time) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d).UnixMilli(), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixMilli(), nil
		}
	}
	return 0, usagef("%q is not a time: give 2026-11-22T10:00:00Z, unix milliseconds, or a duration ago such as 90m", text)
}

// paging holds the flags that select a part of a list.
type paging struct {
	limit  int
	cursor string
}

func (p *paging) flags(f *pflag.FlagSet) {
	f.IntVar(&p.limit, "limit", 100, "maximum `NUMBER` of items (0 = unlimited)")
	f.StringVar(&p.cursor, "cursor", "", "continue at the `CURSOR` that an earlier list ended with")
}

// page is a list with the cursor of what follows.
type page struct {
	items  []json.RawMessage
	cursor string
}

// A listing is a list that the API answers page by page.
type listing struct {
	path, key, id string // the members that hold the items, and the name of an item
	most          int    // the largest page
	always        url.Values
	columns       []column
	shown         func(item any) any // what of an item the columns show; nil: all of it
}

// pages reads a list page by page up to the limit.
func (s *session) pages(l *listing, query url.Values, p paging) (all page, err error) {
	if p.limit < 0 {
		return all, usagef("--limit must not be negative, got %d", p.limit)
	}
	all.cursor = p.cursor
	for {
		count := l.most
		if p.limit > 0 {
			count = min(l.most, p.limit-len(all.items))
		}
		q := url.Values{"count": {strconv.Itoa(count)}}
		maps.Copy(q, l.always)
		maps.Copy(q, query)
		if all.cursor != "" {
			q.Set("cursor", all.cursor)
		}
		var members map[string]json.RawMessage
		var items []json.RawMessage
		if err := s.receive(s.ctx, request{method: "GET", path: s.in(l.path), query: q}, &members); err != nil {
			return all, err
		}
		if json.Unmarshal(members[l.key], &items) != nil {
			return all, s.noNode()
		}
		all.items, all.cursor = append(all.items, items...), ""
		if c := members["cursor"]; c != nil {
			if err := json.Unmarshal(c, &all.cursor); err != nil {
				return all, s.noNode()
			}
		}
		if all.cursor == "" || p.limit > 0 && len(all.items) >= p.limit {
			return all, nil
		}
	}
}

// every returns all items of a list that a query selects.
func (s *session) every(l *listing, query url.Values) ([]any, error) {
	all, err := s.pages(l, query, paging{})
	if err != nil {
		return nil, err
	}
	return all.values()
}

// newest returns a function for completion: the names of the first items of a list.
func (l *listing) newest(s *session) []string {
	p, err := s.pages(l, nil, paging{limit: min(l.most, 50)})
	if err != nil {
		return nil
	}
	items, _ := p.values() // they were decoded once before
	return texts(items, l.id)
}

// lists adds a command that prints the items of a list that filters select.
func (g *group) lists(l *listing, n spec, known ...[]filter) {
	var selected filters
	var p paging
	n.flags = func(f *pflag.FlagSet) {
		selected.flags(f, known...)
		p.flags(f)
	}
	n.run = func(s *session) error {
		query, err := selected.query(time.Now())
		if err != nil {
			return err
		}
		return s.printPage(l, query, p)
	}
	g.add(n)
}

// document is the list as the API answers it in one page.
func (p *page) document(key string) []byte {
	var b strings.Builder
	b.WriteByte('{')
	if p.cursor != "" {
		c, _ := json.Marshal(p.cursor) // a text
		b.WriteString(`"cursor":` + string(c) + `,`)
	}
	b.WriteString(`"` + key + `":[`)
	for i, item := range p.items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(item)
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// values are the items, decoded.
func (p *page) values() ([]any, error) {
	all := make([]any, len(p.items))
	for i, raw := range p.items {
		v, err := decode(raw)
		if err != nil {
			return nil, err
		}
		all[i] = v
	}
	return all, nil
}

// printPage prints the part of a list that a query selects.
func (s *session) printPage(l *listing, query url.Values, p paging) error {
	part, err := s.pages(l, query, p)
	if err != nil {
		return err
	}
	items, err := part.values()
	if err != nil {
		return err
	}
	if l.shown != nil {
		for i, item := range items {
			items[i] = l.shown(item)
		}
	}
	columns := l.columns
	if s.quiet { // the names alone
		columns = columns[slices.IndexFunc(columns, func(c column) bool { return c.member == l.id }):]
	}
	if err := s.rows(s.cmd.OutOrStdout(), part.document(l.key), items, columns); err != nil {
		return err
	}
	if part.cursor != "" && s.format == asTable && !s.line {
		s.note("more follow: --limit 0 shows all, --cursor %s goes on", part.cursor)
	}
	return nil
}
