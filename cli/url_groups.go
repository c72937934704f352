package cli

import (
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/internal/plural"
)

// endpoint is one of a URL group's.
type endpoint struct {
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
}

func urlGroupGroup() *cobra.Command {
	g := newGroup(ofDatabase, "groups", "List URL groups, change their endpoints and defaults", "group", "topics")
	g.listsAll("List the URL groups", "groups list", "/v2/topics", []column{
		{"GROUP", "name", nil, named}, {"ENDPOINTS", "endpoints", computed(endpoints), keep}, {"CREATED", "createdAt", when, keep}, {"UPDATED", "updatedAt", when, drops},
	})
	g.shows(spec{use: "get NAME", short: "Show a URL group", complete: groupNames, example: "groups get news"}, "/v2/topics/", "name")
	g.add(spec{
		use: "add NAME [LABEL=]URL…", short: "Add endpoints to a URL group; create it if it does not exist", args: cobra.MinimumNArgs(2), complete: groupNames,
		example: "groups add news https://a.example/hook https://b.example/hook\ngroups add news backup=https://c.example/hook",
		run: func(s *session) error {
			list := make([]endpoint, len(s.args)-1)
			for i, text := range s.args[1:] {
				list[i] = readEndpoint(text)
			}
			body := map[string]any{"endpoints": list}
			if err := s.Call(s.ctx, "POST", s.in("/v2/topics/"+escape(s.args[0])+"/endpoints"), body, nil); err != nil {
				return err
			}
			return s.say(map[string]any{"group": s.args[0], "endpoints": list}, "added %s to the group %s", plural.Of(len(list), "endpoint"), s.args[0])
		},
	})
	g.removeEndpoints()
	g.defaults()
	g.deletes("group", "/v2/topics/", "Delete a URL group", groupNames)
	return g.Command
}

// readEndpoint reads a URL, with a name in front or without.
func readEndpoint(text string) endpoint {
	if name, address, ok := strings.Cut(text, "="); ok && !strings.ContainsAny(name, ":/?") {
		return endpoint{name, address}
	}
	return endpoint{URL: text}
}

// endpoints shows the URLs of endpoints, with their names.
func endpoints(v any) string {
	list, _ := v.([]any)
	all := make([]string, len(list))
	for i, one := range list {
		m, _ := one.(map[string]any)
		if all[i] = plain(m["url"]); m["name"] != nil {
			all[i] = plain(m["name"]) + "=" + all[i]
		}
	}
	return strings.Join(all, ", ")
}

func (g *group) removeEndpoints() {
	var c consent
	g.add(spec{
		use: "remove NAME URL|LABEL…", short: "Remove endpoints from a URL group; removing the last one deletes the group", args: cobra.MinimumNArgs(2), complete: groupNames,
		example: "groups remove news https://b.example/hook --yes",
		flags:   c.flags,
		run: func(s *session) error {
			var list []endpoint
			for _, text := range s.args[1:] {
				if u, err := url.Parse(text); err == nil && u.Scheme != "" {
					list = append(list, endpoint{URL: text})
				} else {
					list = append(list, endpoint{Name: text})
				}
			}
			at := s.in("/v2/topics/" + escape(s.args[0]))
			return c.carry(s, act{"remove", "endpoint", s.named(at, s.args[1:]...), func() error {
				if err := s.Call(s.ctx, "DELETE", at+"/endpoints", map[string]any{"endpoints": list}, nil); err != nil {
					return err
				}
				return s.say(map[string]any{"group": s.args[0], "removed": list}, "removed %s from the group %s", plural.Of(len(list), "endpoint"), s.args[0])
			}})
		},
	})
}

func (g *group) defaults() {
	g.add(spec{
		use: "defaults NAME [HEADER=VALUE…]", short: "Replace the default options of messages to a URL group", args: cobra.MinimumNArgs(1), complete: groupNames,
		long:    "Replaces the defaults of a group: names of options, such as Retries, or whole header names. Without any there are none.",
		example: "groups defaults news Retries=3 Delay=10s\ngroups defaults news",
		run: func(s *session) error {
			headers := map[string]string{}
			for _, text := range s.args[1:] {
				name, value, ok := strings.Cut(text, "=")
				if !ok || name == "" {
					return Usagef("a default must be HEADER=VALUE, got %q", text)
				}
				if !slices.ContainsFunc([]string{"upstash-", "svc-"}, func(p string) bool { return strings.HasPrefix(strings.ToLower(name), p) }) {
					name = "Svc-" + name
				}
				headers[name] = value
			}
			if err := s.Call(s.ctx, "PATCH", s.in("/v2/topics/"+escape(s.args[0])), map[string]any{"headers": headers}, nil); err != nil {
				return err
			}
			return s.say(map[string]any{"group": s.args[0], "headers": headers}, "the group %s has %s", s.args[0], plural.Of(len(headers), "default"))
		},
	})
}
