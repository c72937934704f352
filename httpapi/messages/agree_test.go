package messages

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// settings are values of each option, good ones and bad ones.
var settings = map[string][]string{
	"method": {"get", "PUT", "TRACE"}, "timeout": {"1h30m3s", "90", "0", "soon"}, "retries": {"0", "7", "-1", "x", "1073741824", "1073741825", "+1"},
	"retry-delay": {"1000*(1+retried)", "7", "retries", "1+"}, "delay": {"1d10h30m", "0", "5w", "365250d", "365251d"},
	"not-before": {"1763730000", "x", "-1", "4398046511104", "4398046511105"},
	"label":      {"a, b,,c", "", ","}, "redact-fields": {"body, header[x-key]", "headers", "url", "header[]", "Headers[a],BODY"}, "queue-name": {"q.1", "a b"},
	"flow-control-key": {"k", ""}, "flow-control-value": {"rate=10, parallelism = 2 ,period=1m", "parallelism=3,", "period=5", "rate=0", "speed=1", "", "rate=5,burst=3", "burst=3", "rate=1,burst=1000000001"},
	"priority": {"0", "9", "10", "-1", "high"}, "tenant": {"acme", "", strings.Repeat("x", 257)}, "weight": {"1", "1000", "1001", "0"},
	"cost":             {"1", "1000000", "1000001", "x"},
	"deduplication-id": {"d", "a:b"}, "content-based-deduplication": {"True", "false", "x", "1", "0", "t"}, "header-forward": {"true", "FALSE", "2"},
	"cron": {"* * * * *"}, "schedule-id": {"s"}, "misfire": {"ALL", "some"}, "content-type": {"text/plain"},
	"traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4BF9"}, "tracestate": {"a=1,b@c=2", "a"},
	"debounce":    {"key=k, delay=5s", "key=k,delay=5s,max-wait=1m", "key=k", "delay"},
	"batch":       {"key=k", "key=k,size=0"},
	"singleton":   {"key=k,mode=skip", "key=k,mode=all"},
	"on-failure":  {"pause", "Dead-Letter", "stop"},
	"commit-as":   {"shop", strings.Repeat("x", 257)},
	"keep-values": {"cart:*, balance", "a*b"}, "inline": {"true", "False", "perhaps"},
	"keep-events": {"a, b*,c", "*", "a*b", strings.Repeat("x", 257)}, "updates": {`{"add":""}`, "\x01"}, "deployment": {"v42", "v 42", strings.Repeat("x", 257)},
	"forward-x-one": {"1", "\x01"}, "forward-host": {"h"}, "forward-upstash-workflow-runid": {"r"},
	"callback": {"https://cb.example/x", "nowhere"}, "failure-callback": {"http://cb.example"}, "unknown": {"x"},
}

// ofCallback are settings that callbacks have too.
var ofCallback = []string{"method", "timeout", "retries", "retry-delay", "delay", "label", "redact-fields", "forward-x-one", "flow-control-key", "flow-control-value",
	"priority", "tenant", "weight", "cost"}

// TestBothReadersAgree: the headers of the HTTP API and the options of MSG commands of
// the same names mean the same, or are both refused.
func TestBothReadersAgree(t *testing.T) {
	names := fields{}
	for name, values := range settings { // unordered: into a map
		names[name] = values
	}
	rapid.Check(t, func(t *rapid.T) {
		f := fields{}
		draw := func(as, name string) {
			if d := queue.DirectiveNamed(name); d != nil && d.Scope > queue.OfPublication {
				return // elsewhere
			}
			if rapid.Bool().Draw(t, as+"?") {
				f[as] = []string{rapid.SampledFrom(settings[name]).Draw(t, as)}
			}
		}
		for _, name := range names.names() {
			draw(name, name)
		}
		for _, callback := range []string{"callback", "failure-callback"} {
			if f[callback] != nil { // options without a URL mean nothing
				for _, name := range ofCallback {
					draw(callback+"-"+name, name)
				}
			}
		}
		over, errOver := byHeaders(f)
		option, errOption := byOptions(f)
		if (errOver == nil) != (errOption == nil) {
			t.Fatalf("%v: headers %v, options %v", f, errOver, errOption)
		}
		if errOver == nil && !reflect.DeepEqual(over, option) {
			t.Fatalf("%v:\n headers %+v\n options %+v", f, over, option)
		}
	})
}

// TestEveryDirectiveAtBothDoors: each is known to both, means the same, and is refused
// for the same reason.
func TestEveryDirectiveAtBothDoors(t *testing.T) {
	text, err := os.ReadFile("../../docs/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range queue.Directives {
		row := "| `Svc-" + canonical(d.Name) + "` | `" + strings.ToUpper(d.Name) + "` | " + d.Value + " |"
		if !strings.Contains(string(text), row+"\n") {
			t.Errorf("docs/messages.md lacks the row\n%s", row)
		}
		if len(settings[d.Name]) == 0 {
			t.Errorf("%s: no values to try", d.Name)
		}
		for _, value := range settings[d.Name] {
			strict := queue.Config{Strict: true}
			known := strict.Set(d.Name, value)
			if known != nil && strings.Contains(known.Error(), "no such option") {
				t.Errorf("%s is unknown to commands", d.Name)
			}
			if d.Scope >= queue.OfSchedule || value == "" || strings.HasPrefix(d.Name, "flow") {
				continue
			}
			f := fields{d.Name: {value}}
			_, over := byHeaders(f)
			if d.Scope == queue.OfPublication {
				if (over == nil) != (known == nil) {
					t.Errorf("%s: %q: headers %v, options %v", d.Name, value, over, known)
				}
				continue
			}
			if fmt.Sprint(over) != fmt.Sprint(known) {
				t.Errorf("%s: %q: headers %v, options %v", d.Name, value, over, known)
			}
		}
	}
}

func byHeaders(f fields) (p queue.Publication, err error) {
	if p.Options, err = readOptions(f, nil); err != nil {
		return p, err
	}
	if _, err := readBool(f, "header-forward"); err != nil {
		return p, err
	}
	return p, readDedup(f, &p)
}

func byOptions(f fields) (queue.Publication, error) {
	var c queue.Config
	for _, name := range f.names() {
		if err := c.Set(strings.ToUpper(name), f[name][0]); err != nil {
			return queue.Publication{}, err
		}
	}
	p, err := c.Done()
	byName := func(a, b queue.Field) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(p.Header, byName)
	return p, err
}
