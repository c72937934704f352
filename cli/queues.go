package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func queueGroup() *cobra.Command {
	g := newGroup(ofDatabase, "queues", "List queues, create, pause, resume and delete them", "queue")
	g.listsAll("List the queues", "queues list\nqueues list --output json", "/v2/queues", []column{
		{"QUEUE", "name", nil, named}, {"PARALLELISM", "parallelism", nil, keep}, {"LAG", "lag", nil, keep}, {"PAUSED", "paused", pausedForm, keep},
		{"CREATED", "createdAt", when, keep}, {"UPDATED", "updatedAt", when, drops},
	})
	g.shows(spec{use: "get NAME", short: "Show a queue", complete: queueNames, example: "queues get orders"}, "/v2/queues/", "name")
	g.explains(spec{
		use: "explain NAME", short: "Explain what the oldest message of a queue waits for", complete: queueNames, example: "queues explain orders",
	}, "/v2/queues/")
	g.tenants("NAME", "/v2/queues/", queueNames, "queues tenants orders")
	parallelism, paused := 0, false
	g.add(spec{
		use: "upsert NAME", short: "Create a queue, or change its settings", args: cobra.ExactArgs(1), complete: queueNames,
		long:    "Creates a queue, or gives one that exists the parallelism and the state given here.",
		example: "queues upsert orders --parallelism 4\nqueues upsert orders --paused",
		flags: func(f *pflag.FlagSet) {
			f.IntVar(&parallelism, "parallelism", 1, "maximum `NUMBER` of attempts at once; 1 keeps the order")
			f.BoolVar(&paused, "paused", false, "hold the messages until queues resume")
		},
		run: func(s *session) error {
			body := map[string]any{"queueName": s.args[0], "parallelism": parallelism, "paused": paused}
			if err := s.Call(s.ctx, "POST", s.in("/v2/queues"), body, nil); err != nil {
				return err
			}
			return s.say(body, "the queue %s has parallelism %d", s.args[0], parallelism)
		},
	})
	g.switches("queue", "/v2/queues/", queueNames)
	g.deletes("queue", "/v2/queues/", "Delete a queue and its waiting messages", queueNames)
	return g.Command
}

// switches adds pause and resume.
func (g *group) switches(noun, path string, names func(*session) []string) {
	for _, one := range [][2]string{{"pause", "Pause a " + noun}, {"resume", "Resume a paused " + noun}} {
		verb := one[0]
		g.add(spec{
			use: verb + " NAME", short: one[1], args: cobra.ExactArgs(1), complete: names, example: g.Name() + " " + verb + " orders",
			run: func(s *session) error {
				at := s.in(path + escape(s.args[0]))
				if _, err := s.get(at); err != nil { // some of the API take any name
					return err
				}
				if err := s.Call(s.ctx, "POST", at+"/"+verb, nil, nil); err != nil {
					return err
				}
				return s.say(map[string]string{noun: s.args[0], "result": verb + "d"}, "%sd the %s %s", verb, noun, s.args[0])
			},
		})
	}
}

// deletes adds delete, which the API takes for names that are not there, and this does not.
func (g *group) deletes(noun, path, short string, names func(*session) []string) {
	var c consent
	g.add(spec{
		use: "delete NAME", short: short, args: cobra.ExactArgs(1), complete: names, flags: c.flags,
		example: g.Name() + " delete orders --dry-run\n" + g.Name() + " delete orders --yes",
		run: func(s *session) error {
			at := s.in(path + escape(s.args[0]))
			return c.carry(s, act{"delete", noun, s.named(at, s.args...), func() error {
				if _, err := s.get(at); err != nil {
					return err
				}
				if err := s.Call(s.ctx, "DELETE", at, nil, nil); err != nil {
					return err
				}
				return s.say(map[string]string{noun: s.args[0], "result": "deleted"}, "deleted the %s %s", noun, s.args[0])
			}})
		},
	})
}
