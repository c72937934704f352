package scripttest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/command"
)

// Start is the cluster time at which every script begins, in unix milliseconds.
const Start = 1_700_000_000_000

// ErrScript says that a script's text can't be read.
var ErrScript = errors.New("scripttest: malformed script")

// Step is one command of a script and the scene it runs in.
type Step struct {
	// Line is the command's line in the script, counted from 1.
	Line int
	// Text is the command as written.
	Text string
	// After is the pause before the command, in milliseconds.
	After  int64
	Origin command.Origin
	// As is the user of the database default that gives the command.
	As acl.Identity
	// Redis is the version of Redis that knows the command and its options, such as
	// 8.4; empty for old ones.
	Redis string
	Argv  [][]byte
	// Unordered replies are compared sorted.
	Unordered bool
	// Want is the reply expected, lines joined by newlines.
	Want string
}

// Parse reads a script.
func Parse(text string) ([]Step, error) {
	p := parser{origin: command.RESP, as: acl.Trusted(acl.DefaultName)}
	for i, line := range strings.Split(text, "\n") {
		if err := p.line(i+1, line); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrScript, i+1, err)
		}
	}
	return p.steps, nil
}

type parser struct {
	steps  []Step
	after  int64
	origin command.Origin
	as     acl.Identity
	redis  string
	open   bool // reply lines belong to the last step
}

func (p *parser) line(n int, line string) error {
	directive, rest, _ := strings.Cut(line, " ")
	switch directive {
	case ">", ">~":
		return p.command(n, rest, directive == ">~")
	case "advance":
		p.open = false
		ms, err := parseMillis(rest)
		p.after += ms
		return err
	case "origin":
		p.open = false
		return choose(&p.origin, rest, map[string]command.Origin{
			"inside": command.OriginInternal, "http": command.OriginHTTP, "resp": command.RESP, "script": command.Script})
	case "redis":
		p.open, p.redis = false, rest
		return nil
	case "role":
		p.open = false
		if name, ok := map[string]string{"standard": acl.DefaultName, "readonly": acl.ReadOnlyName}[rest]; ok {
			rest = name
		}
		p.as = acl.Trusted(rest)
		return nil
	}
	switch {
	case line == "" || line[0] == '#':
		p.open = false
	case !p.open:
		return fmt.Errorf("a reply without a command: %q", line)
	default:
		s := &p.steps[len(p.steps)-1]
		if s.Want != "" {
			s.Want += "\n"
		}
		s.Want += line
	}
	return nil
}

func (p *parser) command(n int, text string, unordered bool) error {
	argv, err := Split(text)
	if err != nil {
		return err
	}
	p.steps = append(p.steps, Step{Line: n, Text: text, After: p.after, Origin: p.origin, As: p.as, Redis: p.redis, Argv: argv, Unordered: unordered})
	p.after, p.open = 0, true
	return nil
}

func choose[T any](to *T, word string, from map[string]T) error {
	v, ok := from[word]
	if !ok {
		return fmt.Errorf("unknown word %q", word)
	}
	*to = v
	return nil
}

// parseMillis reads a duration such as 11s.
func parseMillis(s string) (int64, error) {
	digits := strings.TrimRight(s, "smhd")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit := map[string]int64{"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}[s[len(digits):]]
	if err != nil || unit == 0 || n < 0 {
		return 0, fmt.Errorf("not a duration: %q", s)
	}
	return n * unit, nil
}
