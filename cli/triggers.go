package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// trigger is a trigger as TRIGGER.GET shows it.
type trigger struct {
	Name           string   `json:"name"`
	Prefix         string   `json:"prefix"`
	Events         []string `json:"events,omitempty"`
	Types          []string `json:"types,omitempty"`
	Values         []string `json:"values,omitempty"`
	To             string   `json:"to"` // message, run or stream
	Destination    string   `json:"destination,omitempty"`
	Queue          string   `json:"queue,omitempty"` // empty for queues of its own
	FlowControlKey string   `json:"flowControlKey,omitempty"`
	Stream         string   `json:"stream,omitempty"`
	MaxLen         int64    `json:"maxlen,omitempty"`
	Keep           int64    `json:"keep,omitempty"` // milliseconds
	Lanes          int64    `json:"lanes"`
	User           string   `json:"user"`
	Paused         bool     `json:"paused"`
	Fired          int64    `json:"fired"`
	Missed         int64    `json:"missed"`
	Backlog        int64    `json:"backlog"`
	CreatedAt      int64    `json:"createdAt"`
	UpdatedAt      int64    `json:"updatedAt"`
	FiredAt        int64    `json:"firedAt"` // 0 before the first change
	Error          string   `json:"error,omitempty"`
}

// toStream is the target of a trigger that is a change feed.
const toStream = "stream"

func triggerGroup() *cobra.Command {
	g := newGroup(ofDatabase, "triggers", "List triggers of changes of keys, set, follow, pause, resume and delete them", "trigger")
	g.add(spec{
		view: watched, use: "list", short: "List the triggers", example: "triggers list\ntriggers list --output json",
		run: func(s *session) error {
			all, err := s.triggers()
			if err != nil {
				return err
			}
			_, err = s.listed(all, triggerColumns)
			return err
		},
	})
	g.add(spec{
		view: watched, use: "get NAME", short: "Show what a trigger is and how it fares", args: cobra.ExactArgs(1), complete: triggerNames,
		example: "triggers get orders",
		run: func(s *session) error {
			t, err := s.trigger(s.args[0])
			if err != nil {
				return err
			}
			return s.record(t, "name")
		},
	})
	g.setTrigger()
	g.followTrigger()
	g.pauseTrigger("pause", "Pause a trigger: what it makes of changes waits", "paused")
	g.pauseTrigger("resume", "Resume a paused trigger: what has waited is delivered in order", "resumed")
	g.deleteTrigger()
	return g.Command
}

var triggerColumns = []column{
	{"TRIGGER", "name", nil, named}, {"PREFIX", "prefix", nil, keep}, {"EVENTS", "events", everything, drops}, {"TO", "to", nil, keep},
	{"TARGET", "", computed(triggerTarget), keep}, {"BACKLOG", "backlog", nil, keep}, {"PAUSED", "paused", pausedForm, keep}, {"FIRED", "fired", nil, drops},
	{"MISSED", "missed", nil, drops}, {"LAST", "firedAt", when, drops}, {"ERROR", "error", nil, drops}, {"TYPES", "types", everything, wide},
	{"VALUES", "values", nil, wide}, {"LANES", "lanes", nil, wide}, {"USER", "user", nil, wide}, {"CREATED", "createdAt", when, wide}, {"UPDATED", "updatedAt", when, wide},
}

// everything shows a list that limits nothing as long as it is empty.
var everything = &form{text: func(v any) string {
	if v == nil {
		return "all"
	}
	return plain(v)
}}

// triggerTarget is the destination or the stream of a trigger.
func triggerTarget(v any) string { return first(textOf(v, "destination"), textOf(v, "stream")) }

// triggers are the triggers of the database in the order of their names.
func (s *session) triggers() ([]trigger, error) {
	v, err := s.ask("TRIGGER.LIST")
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for _, name := range v.Elems() {
		rows = append(rows, []string{"TRIGGER.GET", name.Text()})
	}
	replies, err := s.askEach(rows)
	if err != nil {
		return nil, err
	}
	all := []trigger{}
	for _, v := range replies {
		if err := commandError(v); err != nil {
			return nil, err
		}
		if len(v.Elems()) > 0 { // one that was deleted meanwhile has none
			all = append(all, readTrigger(v))
		}
	}
	return all, nil
}

// trigger is the trigger of a name.
func (s *session) trigger(name string) (trigger, error) {
	v, err := s.ask("TRIGGER.GET", name)
	if err != nil {
		return trigger{}, err
	}
	if len(v.Elems()) == 0 {
		return trigger{}, errorf(ExitUnknown, "there is no trigger %q: triggers list shows them", name)
	}
	return readTrigger(v), nil
}

// readTrigger reads the fields of TRIGGER.GET.
func readTrigger(v reply.Value) trigger {
	fields := map[string]reply.Value{}
	for pair := range slices.Chunk(v.Elems(), 2) {
		if len(pair) == 2 {
			fields[pair[0].Text()] = pair[1]
		}
	}
	text := func(name string) string { return fields[name].Text() }
	list := func(name string) []string {
		return slices.DeleteFunc(strings.Split(text(name), ","), func(word string) bool { return word == "" })
	}
	n := func(name string) int64 { return fields[name].Int() }
	return trigger{
		Name: text("name"), Prefix: text("prefix"), Events: list("events"), Types: list("types"), Values: list("values"),
		To: text("to"), Destination: text("destination"), Queue: text("queue"), FlowControlKey: text("flowControlKey"),
		Stream: text("stream"), MaxLen: n("maxlen"), Keep: n("keep"), Lanes: n("lanes"), User: text("user"),
		Paused: n("paused") == 1, Fired: n("fired"), Missed: n("missed"), Backlog: n("backlog"),
		CreatedAt: n("createdAt"), UpdatedAt: n("updatedAt"), FiredAt: n("firedAt"), Error: text("error"),
	}
}

func triggerNames(s *session) []string {
	v, err := s.ask("TRIGGER.LIST")
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range v.Elems() {
		names = append(names, name.Text())
	}
	return names
}

// pauseTrigger adds pause or resume.
func (g *group) pauseTrigger(verb, short, done string) {
	g.add(spec{
		use: verb + " NAME", short: short, args: cobra.ExactArgs(1), complete: triggerNames, example: "triggers " + verb + " orders",
		run: func(s *session) error {
			if _, err := s.trigger(s.args[0]); err != nil {
				return err
			}
			if _, err := s.ask("TRIGGER."+strings.ToUpper(verb), s.args[0]); err != nil {
				return err
			}
			return s.say(map[string]string{"trigger": s.args[0], "result": done}, "%s the trigger %s", done, s.args[0])
		},
	})
}

// deleteTrigger adds delete.
func (g *group) deleteTrigger() {
	var c consent
	g.add(spec{
		use: "delete NAME", short: "Delete a trigger", args: cobra.ExactArgs(1), complete: triggerNames, flags: c.flags,
		long:    "What the trigger has made of changes is still delivered, and the stream of a change feed stays.",
		example: "triggers delete orders --dry-run\ntriggers delete orders --yes",
		run: func(s *session) error {
			t, err := s.trigger(s.args[0])
			if err != nil {
				return err
			}
			return c.carry(s, act{"delete", "trigger", func() ([]string, error) { return s.args, nil }, func() error {
				if _, err := s.ask("TRIGGER.DEL", t.Name); err != nil {
					return err
				}
				return s.say(map[string]string{"trigger": t.Name, "result": "deleted"}, "deleted the trigger %s%s", t.Name, t.leaves())
			}})
		},
	})
}

// leaves says what becomes of what a deleted trigger has made.
func (t *trigger) leaves() string {
	switch made := strconv.FormatInt(t.Backlog, 10); {
	case t.Backlog == 0:
		return ""
	case t.Paused && t.To == "run":
		return "; " + made + " that it has made wait until flow resume " + t.FlowControlKey
	case t.Paused && t.Lanes > 1:
		return "; " + made + " that it has made wait until queues resume trigger." + t.Name + ".0 and so on"
	case t.Paused:
		return "; " + made + " that it has made wait until queues resume " + first(t.Queue, "trigger."+t.Name)
	default:
		return "; " + made + " that it has made are still to be delivered"
	}
}
