package cli

import (
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// topCommand shows what a cluster does, once a second.
func topCommand() *cobra.Command {
	t := &top{}
	g := &group{scope: ofDatabase}
	cmd := newCommand(g, spec{
		use: "top", short: "Show what the cluster does: nodes, databases, slow destinations, hot keys, once a second",
		long: "Asks the node for the others and each node for its metrics. Rates are averages since the previous refresh: COMMANDS, ATTEMPTS of\n" +
			"deliveries and FAILED ones a second; P50 and P99 are of HTTP requests in that time; LAG is in log entries behind the\n" +
			"furthest node; OVERDUE is how late the oldest due message is. Destinations are of the last 1,000 events of the database. Hot keys\n" +
			"are counted from a MONITOR of the database, which costs the nodes something: only with --keys, or after k.\n" +
			"Keys: n, d, t, h choose nodes, databases, destinations (targets), hot keys; a shows all; s sorts by the next column, r reverses;\n" +
			"/ filters; k counts keys; q ends. Where standard output is no terminal, or with --output, it prints one view after --interval.",
		example: "top\ntop --keys --by keys\ntop --by destinations --sort P99 --output csv\ntop --count 2 --output json",
		flags:   t.flags,
		run:     func(s *session) error { return t.run(s) },
	})
	_ = cmd.RegisterFlagCompletionFunc("by", completeChoices(sectionNames)) // fails for a flag that is not there
	_ = cmd.RegisterFlagCompletionFunc("sort", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return t.section().titles(), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// top is one call of the command.
type top struct {
	watching
	by, sortBy, filter string
	reverse, keys      bool
	typing             bool // the filter

	s     *session
	last  map[string]sample
	sizes map[string]int64 // of databases, a refresh before
	at    time.Time        // of sizes
	reach *destinations
	hot   *hotKeys
}

func (t *top) flags(f *pflag.FlagSet) {
	t.times(f)
	f.StringVar(&t.by, "by", "", "`SECTION` to show alone, and to print as csv or names: "+listed(sectionNames))
	f.StringVar(&t.sortBy, "sort", "", "`COLUMN` to sort the section of --by by")
	f.StringVar(&t.filter, "filter", "", "show only rows whose name has this `TEXT`")
	f.BoolVar(&t.reverse, "reverse", false, "reverse the order")
	f.BoolVar(&t.keys, "keys", false, "count the keys of commands, by a MONITOR of the database")
}

// firstWait is the time before the first view: without it rates would be missing.
const firstWait = 300 * time.Millisecond

func (t *top) run(s *session) error {
	t.s, t.last, t.sizes = s, map[string]sample{}, map[string]int64{}
	if t.by != "" {
		if err := checkChoice("by", t.by, sectionNames); err != nil {
			return err
		}
	}
	if t.sortBy != "" {
		if _, err := t.section().column(t.sortBy); err != nil {
			return err
		}
	}
	if t.by == keySection {
		t.keys = true
	}
	live := s.to.is && s.forPeople()
	wait := t.interval
	if live {
		wait = min(firstWait, t.interval)
	} else if t.count == 0 {
		t.count = 1
	}
	if t.keys {
		t.hot = s.watchKeys()
		defer func() { t.hot.stop() }()
	}
	if _, err := t.look(); err != nil {
		return err
	}
	select {
	case <-s.ctx.Done():
		return nil
	case <-time.After(wait):
	}
	if live {
		return t.each(s, t.show, t.press)
	}
	return t.repeat(s, t.show)
}

// press does what a key says, and reports whether the view changed.
func (t *top) press(key rune) bool {
	if t.typing {
		return t.typed(key)
	}
	switch key {
	case 'n', 'd', 't', 'h':
		t.by, t.sortBy = map[rune]string{'n': nodeSection, 'd': databaseSection, 't': destinationSection, 'h': keySection}[key], ""
		if key == 'h' {
			t.countKeys()
		}
	case 'a':
		t.by, t.sortBy = "", ""
	case 's':
		t.sortBy = t.section().after(t.sortBy)
	case 'r':
		t.reverse = !t.reverse
	case '/':
		t.typing, t.filter = true, ""
	case 'k':
		if t.hot == nil {
			t.countKeys()
		} else {
			t.hot.stop()
			t.hot = nil
		}
	default:
		return false
	}
	return true
}

// countKeys begins to count keys.
func (t *top) countKeys() {
	if t.hot == nil {
		t.hot = t.s.watchKeys()
	}
}

// typed adds a key to the filter.
func (t *top) typed(key rune) bool {
	switch {
	case key == '\r' || key == '\n':
		t.typing = false
	case key == '\x1b':
		t.typing, t.filter = false, ""
	case key == '\x7f' || key == '\b':
		runes := []rune(t.filter)
		t.filter = string(runes[:max(0, len(runes)-1)])
	case key >= ' ':
		t.filter += string(key)
	default:
		return false
	}
	return true
}

// show prints a view.
func (t *top) show(out io.Writer) error {
	v, err := t.look()
	if err != nil {
		return err
	}
	return t.print(out, v)
}
