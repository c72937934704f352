package cli

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/pflag"
)

// cause is a number of dead letters that failed alike.
type cause struct {
	Count  int    `json:"count"`
	Host   string `json:"host"`
	Status int    `json:"responseStatus"`
	Text   string `json:"text"`
	Oldest int64  `json:"oldest"`
	Newest int64  `json:"newest"`
	Letter string `json:"dlqId"`
}

var causeColumns = []column{
	{"COUNT", "count", nil, keep}, {"DESTINATION", "host", nil, keep}, {"STATUS", "responseStatus", statusForm, keep}, {"CAUSE", "text", nil, keep},
	{"OLDEST", "oldest", when, drops}, {"NEWEST", "newest", when, keep}, {"DEAD LETTER", "dlqId", nil, named},
}

// causePages is the number of pages that are read; each looks at 1,000 dead letters.
const causePages = 20

// causesOf adds the command that counts dead letters that failed alike.
func (g *group) causesOf() {
	var selected filters
	g.add(spec{
		use: "causes", short: "Count dead letters that failed alike, the most frequent cause first", view: watched,
		long:    "Groups dead letters by host, status, and error or first line of the answer. It looks at up to 20,000 of them. DEAD LETTER is the newest.",
		example: "dlq causes\ndlq causes --from 24h --output csv",
		flags:   func(f *pflag.FlagSet) { selected.flags(f, []filter{statusFilter, messageFilter}, common) },
		run: func(s *session) error {
			query, err := selected.query(time.Now())
			if err != nil {
				return err
			}
			return s.causes(query)
		},
	})
}

// causes prints the causes of the dead letters that a query selects.
func (s *session) causes(query url.Values) error {
	query.Set("groupBy", "cause")
	var all []cause
	cursor := ""
	for range causePages {
		var part struct {
			Cursor string  `json:"cursor"`
			Groups []cause `json:"groups"`
		}
		if err := s.receive(s.ctx, request{method: "GET", path: s.in(deadLetters.path), query: query}, &part); err != nil {
			return err
		}
		all = append(all, part.Groups...)
		if cursor = part.Cursor; cursor == "" {
			break
		}
		query.Set("cursor", cursor)
	}
	doc, err := encode(map[string]any{"groups": mergeCauses(all)})
	if err != nil {
		return err
	}
	items, err := s.itemsOf(doc, "groups")
	if err != nil {
		return err
	}
	if err := s.rows(s.cmd.OutOrStdout(), json.RawMessage(doc), items, causeColumns); err != nil {
		return err
	}
	if cursor != "" {
		s.note("there are more dead letters than these: give filters, such as --from 24h")
	}
	return nil
}

// mergeCauses adds up the causes of several pages, the most frequent first.
func mergeCauses(all []cause) []cause {
	type key struct {
		host, text string
		status     int
	}
	merged := map[key]cause{}
	for _, c := range all {
		k := key{c.Host, c.Text, c.Status}
		if before, known := merged[k]; known {
			if before.Newest > c.Newest {
				c.Letter = before.Letter
			}
			c.Count, c.Oldest, c.Newest = c.Count+before.Count, min(c.Oldest, before.Oldest), max(c.Newest, before.Newest)
		}
		merged[k] = c
	}
	list := slices.Collect(maps.Values(merged))
	slices.SortFunc(list, func(a, b cause) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Text, b.Text))
	})
	return append([]cause{}, list...)
}
