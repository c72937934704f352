package cli

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A rule holds the flags of triggers set.
type rule struct {
	publication
	events, types, values  string
	message, start, stream string
	lanes, maxlen          int
	keep                   time.Duration
}

// toldValues are the values that a trigger can tell.
var toldValues = []string{"old", "new"}

// triggerOptions are options of messages that a trigger takes and messages publish has by another way.
var triggerOptions = []option{{"queue", "Queue-Name", "`NAME` of the queue that the messages go through, instead of queues of the trigger's own"}}

func (r *rule) flags(f *pflag.FlagSet) {
	f.StringVar(&r.message, "message", "", "publish a message to this `DESTINATION`: a URL, or a URL group")
	f.StringVar(&r.start, "run", "", "start a workflow run at this `URL`")
	f.StringVar(&r.stream, "stream", "", "add an entry to the stream of this `KEY`: a change feed")
	f.StringVar(&r.events, "events", "", "`EVENTS` of keys, such as set,hset,del,expired (default: all)")
	f.StringVar(&r.types, "types", "", "`TYPES` of keys, such as string,hash (default: all)")
	f.StringVar(&r.values, "values", "", "`VALUES` to tell: old, new, or old,new")
	_ = f.SetAnnotation("values", choicesKey, toldValues) // fails for a flag that is not there
	f.IntVar(&r.lanes, "lanes", 1, "`NUMBER` of queues, 1 to 64, among which the keys are divided")
	f.IntVar(&r.maxlen, "maxlen", 0, "maximum `NUMBER` of entries of the stream (0 = unlimited)")
	f.DurationVar(&r.keep, "keep", 0, "how long the stream keeps an entry (0 = for ever)")
	r.options(f, messageOptions, triggerOptions)
}

// setTrigger adds the command that makes a trigger or replaces its rule.
func (g *group) setTrigger() {
	var r rule
	g.add(spec{
		use: "set NAME PREFIX", short: "Create a trigger, or replace its rule", args: cobra.ExactArgs(2), complete: triggerNames,
		long: "Each change of a key whose name begins with PREFIX makes a message (--message), a workflow run (--run) or an entry of a\n" +
			"stream (--stream), in the entry of the log that makes the change. What is not given is not kept of an earlier rule.",
		example: "triggers set orders order: --events set,del --values old,new --message https://app.example/orders --retries 5\n" +
			"triggers set jobs job: --types hash --run https://app.example/job\n" +
			"triggers set feed order: --values new --stream changes --maxlen 1000000 --keep 168h",
		flags: r.flags,
		run: func(s *session) error {
			words, err := r.words(s.cmd.Flags(), s.args[0], s.args[1])
			if err != nil {
				return err
			}
			if _, err := s.ask(words...); err != nil {
				return err
			}
			t, err := s.trigger(s.args[0])
			if err != nil {
				return err
			}
			return s.say(t, "the trigger %s makes a %s of each change of keys that begin with %q: %s", t.Name, made[t.To], t.Prefix, first(t.Destination, t.Stream))
		},
	})
}

// made are the targets of triggers as they are called in a sentence.
var made = map[string]string{"message": "message", "run": "run", toStream: "stream entry"}

// words are the command that sets the trigger.
func (r *rule) words(f *pflag.FlagSet, name, prefix string) ([]string, error) {
	given := 0
	for _, target := range []string{"message", "run", "stream"} {
		if f.Changed(target) {
			given++
		}
	}
	if given != 1 {
		return nil, Usagef("give one of --message, --run and --stream")
	}
	words := []string{"TRIGGER.SET", name, prefix}
	for _, one := range [][2]string{{"EVENTS", r.events}, {"TYPES", r.types}, {"VALUES", r.values}} {
		if one[1] != "" {
			words = append(words, one[0], one[1])
		}
	}
	if r.values != "" {
		if err := checkChoice("values", r.values, toldValues); err != nil {
			return nil, err
		}
	}
	if f.Changed("lanes") {
		words = append(words, "LANES", strconv.Itoa(r.lanes))
	}
	target, err := r.target(f)
	return append(words, target...), err
}

// target are the words that say what the trigger makes of changes.
func (r *rule) target(f *pflag.FlagSet) ([]string, error) {
	header, err := r.header()
	if err != nil {
		return nil, err
	}
	if f.Changed("stream") {
		if len(header) > 0 {
			return nil, Usagef("an entry of a stream has no options of messages: they need --message or --run")
		}
		words := []string{"STREAM", r.stream}
		if f.Changed("maxlen") {
			words = append(words, "MAXLEN", strconv.Itoa(r.maxlen))
		}
		if f.Changed("keep") {
			words = append(words, "KEEP", strconv.FormatInt(r.keep.Milliseconds(), 10))
		}
		return words, nil
	}
	if f.Changed("maxlen") || f.Changed("keep") {
		return nil, Usagef("--maxlen and --keep are of streams: they need --stream")
	}
	words := []string{"MESSAGE", r.message}
	if f.Changed("run") {
		words = []string{"RUN", r.start}
	}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			words = append(words, strings.TrimPrefix(name, "Svc-"), value)
		}
	}
	return words, nil
}
