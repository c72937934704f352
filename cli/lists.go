package cli

import (
	"encoding/json"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

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
	global        bool // of the cluster, not of a database
	columns       []column
}

// pages reads a list page by page up to the limit.
func (s *session) pages(l *listing, query url.Values, p paging) (all page, err error) {
	if p.limit < 0 {
		return all, Usagef("--limit must not be negative, got %d", p.limit)
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
		path := l.path
		if !l.global {
			path = s.in(path)
		}
		if err := s.receive(s.ctx, request{method: "GET", path: path, query: q}, &members); err != nil {
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
	n.view = watched
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
	if err := s.rows(s.cmd.OutOrStdout(), part.document(l.key), items, l.columns); err != nil {
		return err
	}
	if part.cursor != "" && s.forPeople() {
		s.note("more follow: --limit 0 shows all, --cursor %s goes on", part.cursor)
	}
	return nil
}
