package failpoint

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// kind is the action of an armed point.
type kind int

const (
	doNothing kind = iota
	doPanic
	doExit
	doSleep
	doOffset
)

// action is one armed point: what to do and how often still (-1: always).
type action struct {
	kind   kind
	pause  time.Duration
	offset time.Duration
	budget int
}

// parse reads a specification. Empty parts are skipped, so that a trailing
// semicolon or newline is no error; the last mention of a name wins.
func parse(spec string) (map[string]*action, error) {
	armed := map[string]*action{}
	split := func(r rune) bool { return r == ';' || r == '\n' }
	for _, part := range strings.FieldsFunc(spec, split) {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, text, found := strings.Cut(part, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("%q is not name=action", part)
		}
		a, err := parseAction(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		armed[name] = a
	}
	return armed, nil
}

// parseAction reads [N*](off|panic|exit|sleep(DURATION)|offset(DURATION)).
func parseAction(text string) (*action, error) {
	a := &action{budget: -1}
	if count, rest, found := strings.Cut(text, "*"); found {
		n, err := strconv.Atoi(count)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is not a count", count)
		}
		a.budget, text = n, rest
	}
	switch {
	case text == "off":
		a.kind = doNothing
	case text == "panic":
		a.kind = doPanic
	case text == "exit":
		a.kind = doExit
	case strings.HasPrefix(text, "offset(") && strings.HasSuffix(text, ")"):
		d, err := time.ParseDuration(text[len("offset(") : len(text)-1])
		if err != nil {
			return nil, fmt.Errorf("%q holds no duration", text)
		}
		a.kind, a.offset = doOffset, d
	case strings.HasPrefix(text, "sleep(") && strings.HasSuffix(text, ")"):
		d, err := time.ParseDuration(text[len("sleep(") : len(text)-1])
		if err != nil || d < 0 {
			return nil, fmt.Errorf("%q holds no duration", text)
		}
		a.kind, a.pause = doSleep, d
	default:
		return nil, fmt.Errorf("unknown action %q", text)
	}
	return a, nil
}
