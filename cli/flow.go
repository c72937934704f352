package cli

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func flowGroup() *cobra.Command {
	g := newGroup(ofDatabase, "flow", "List flow-control keys, pin their limits, pause and reset them")
	g.flowList()
	g.shows(spec{use: "get KEY", short: "Show a flow-control key", complete: flowKeys, example: "flow get billing"}, "/v2/flowControl/", "flowControlKey")
	g.explains(spec{
		use: "explain KEY", short: "Explain what the oldest message of a key waits for", complete: flowKeys, example: "flow explain billing",
	}, "/v2/flowControl/")
	g.tenants("KEY", "/v2/flowControl/", flowKeys, "flow tenants billing")
	g.pin()
	g.unpin()
	for _, one := range []struct{ verb, path, short string }{
		{"pause", "pause", "Pause the messages of a key"},
		{"resume", "resume", "Resume a paused key"},
		{"reset", "reset", "Begin a new rate window of a key; attempts in flight stay counted"},
	} {
		g.add(spec{
			use: one.verb + " KEY", short: one.short, args: cobra.ExactArgs(1), complete: flowKeys, example: "flow " + one.verb + " billing",
			run: func(s *session) error {
				if _, err := s.get(s.in("/v2/flowControl/" + escape(s.args[0]))); err != nil {
					return err
				}
				return s.changeFlow(one.path, nil)
			},
		})
	}
	return g.Command
}

// changeFlow changes a key and prints what it is then.
func (s *session) changeFlow(how string, query url.Values) error {
	text, err := s.send(s.ctx, request{method: "POST", path: s.in("/v2/flowControl/" + escape(s.args[0]) + "/" + how), query: query})
	if err != nil {
		return err
	}
	if s.quiet && s.format == asTable {
		return nil
	}
	return s.record(json.RawMessage(text), "")
}

func (g *group) pin() {
	parallelism, rate, burst, period := 0, 0, 0, ""
	g.add(spec{
		use: "pin KEY", short: "Pin limits of a key, so that messages cannot change them", args: cobra.ExactArgs(1), complete: flowKeys,
		example: "flow pin billing --rate 10 --period 1m\nflow pin billing --parallelism 2",
		flags: func(f *pflag.FlagSet) {
			f.IntVar(&parallelism, "parallelism", 0, "maximum `NUMBER` of attempts at once")
			f.IntVar(&rate, "rate", 0, "maximum `NUMBER` of attempts in a period")
			f.StringVar(&period, "period", "", "`DURATION` of the rate (default 1s)")
			f.IntVar(&burst, "burst", 0, "maximum `NUMBER` of attempts that a rate saves up (0 = it is counted in windows)")
		},
		run: func(s *session) error {
			query := url.Values{}
			for name, n := range map[string]int{"parallelism": parallelism, "rate": rate} {
				if s.cmd.Flags().Changed(name) {
					query.Set(name, strconv.Itoa(n))
				}
			}
			if len(query) == 0 {
				return Usagef("give --parallelism, --rate or both")
			}
			if period != "" {
				query.Set("period", period)
			}
			if burst > 0 {
				query.Set("burst", strconv.Itoa(burst))
			}
			return s.changeFlow("pin", query)
		},
	})
}

func (g *group) unpin() {
	parallelism, rate := false, false
	g.add(spec{
		use: "unpin KEY", short: "Unpin limits of a key, so that messages can change them again", args: cobra.ExactArgs(1), complete: flowKeys,
		example: "flow unpin billing --rate",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&parallelism, "parallelism", false, "the parallelism")
			f.BoolVar(&rate, "rate", false, "the rate and its period")
		},
		run: func(s *session) error {
			if !parallelism && !rate {
				return Usagef("give --parallelism, --rate or both")
			}
			return s.changeFlow("unpin", url.Values{"parallelism": {strconv.FormatBool(parallelism)}, "rate": {strconv.FormatBool(rate)}})
		},
	})
}

// flowList lists keys.
func (g *group) flowList() {
	search := ""
	g.add(spec{
		view: watched, use: "list", short: "List the flow-control keys", example: "flow list\nflow list --search billing",
		flags: func(f *pflag.FlagSet) { f.StringVar(&search, "search", "", "part of the `KEY`") },
		run: func(s *session) error {
			path := s.in("/v2/flowControl")
			if search != "" {
				path += "?search=" + url.QueryEscape(search)
			}
			return s.list(path, []column{
				{"KEY", "flowControlKey", nil, named}, {"WAITING", "waitListSize", nil, keep}, {"UNDER WAY", "parallelismCount", nil, keep}, {"PARALLELISM", "parallelismMax", none, drops},
				{"IN WINDOW", "rateCount", nil, drops}, {"RATE", "rateMax", none, keep}, {"PERIOD", "ratePeriod", seconds, keep}, {"PAUSED", "isPaused", pausedForm, keep}, {"PINNED", "", computed(pinned), drops},
			})
		},
	})
}

// pinned shows which limits of a key messages can't change.
func pinned(v any) string {
	m, _ := v.(map[string]any)
	var all []string
	if m["isPinnedParallelism"] == true {
		all = append(all, "parallelism")
	}
	if m["isPinnedRate"] == true {
		all = append(all, "rate")
	}
	return strings.Join(all, ", ")
}
