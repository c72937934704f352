package cli

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completionTimeout bounds a shell's wait for names.
const completionTimeout = 3 * time.Second

// escape is a name as a segment of a path.
func escape(name string) string { return url.PathEscape(name) }

// names completes arguments by what the server knows. Without an answer there are none.
func (g *group) names(find func(s *session) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		s, err := g.session(cmd.Context(), cmd, args, false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s.http.Timeout = completionTimeout
		all := slices.DeleteFunc(find(s), func(name string) bool { return slices.Contains(args, name) })
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlags completes the flags that hold names.
func (g *group) completeFlags(cmd *cobra.Command) {
	for name, find := range map[string]func(*session) []string{
		"queue": queueNames, "schedule": scheduleNames, "group": groupNames, "flow-control-key": flowKeys, "to": nodeNames, "with": nodeNames, "from": nodeNames,
	} {
		if f := cmd.Flags().Lookup(name); f != nil && (g.scope == ofCluster) == (name == "to" || name == "with" || name == "from") {
			_ = cmd.RegisterFlagCompletionFunc(name, g.names(find))
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if choices := f.Annotations[choicesKey]; len(choices) > 0 {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, completeChoices(choices))
		}
	})
}

// completeShared completes the flags that all commands of a group have. They are those of the command that declares them.
func (g *group) completeShared(cmd *cobra.Command) {
	fixed := func(words []string) cobra.CompletionFunc {
		return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	}
	for name, find := range map[string]cobra.CompletionFunc{
		"output": completeFormat, "color": fixed(colors), "database": g.names(databaseNames),
		"context": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return contextNames(nil), cobra.ShellCompDirectiveNoFileComp
		},
	} {
		if cmd.Flag(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, find) // fails for a flag that is not there
		}
	}
}

// completeFormat completes the forms of --output. The path of a JSONPath follows without a space.
func completeFormat(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	if strings.HasPrefix(start, "j") && strings.HasPrefix(asPath, start) && !strings.HasPrefix(asJSON, start) {
		return []string{asPath}, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return formats, cobra.ShellCompDirectiveNoFileComp
}

// completeChoices completes a flag that takes some words only, also behind a comma.
func completeChoices(choices []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		before := start[:strings.LastIndexByte(start, ',')+1]
		all := make([]string, len(choices))
		for i, c := range choices {
			all[i] = before + c
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

func contextNames(*session) []string {
	all, _, err := loadContexts()
	if err != nil {
		return nil
	}
	var names []string
	for _, c := range all.Contexts {
		names = append(names, c.Name)
	}
	return names
}

// members are a member of each item of a list; key names the list in an object, or is empty where the answer is one.
func (s *session) members(path, key, name string) ([]string, error) {
	doc, err := s.get(path)
	if err != nil {
		return nil, err
	}
	v, err := decode(doc)
	if err != nil {
		return nil, err
	}
	if key != "" {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	items, _ := v.([]any)
	return texts(items, name), nil
}

func texts(items []any, name string) []string {
	var all []string
	for _, item := range items {
		m, _ := item.(map[string]any)
		if text, ok := m[name].(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// without drops the error of a list that completes: a completion has no place for it.
func without(names []string, _ error) []string { return names }

func queueNames(s *session) []string { return without(s.members(s.in("/v2/queues"), "", "name")) }
func scheduleNames(s *session) []string {
	return without(s.members(s.in("/v2/schedules"), "", "scheduleId"))
}
func groupNames(s *session) []string { return without(s.members(s.in("/v2/topics"), "", "name")) }
func deploymentNames(s *session) []string {
	return without(s.members(s.in(deploymentPath), "", "name"))
}
func flowKeys(s *session) []string {
	return without(s.members(s.in("/v2/flowControl"), "", "flowControlKey"))
}
func nodeNames(s *session) []string { return without(s.members("/admin/cluster", "nodes", "id")) }
func databaseNames(s *session) []string {
	p, err := s.pages(&databaseList, nil, paging{limit: databaseList.most})
	if err != nil {
		return nil
	}
	items, _ := p.values() // they were decoded once before
	return texts(items, databaseList.id)
}
