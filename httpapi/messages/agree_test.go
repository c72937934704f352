package messages

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"trireme/fsm/queue"
)

// settings are values of each option, good ones and bad ones.
var settings = map[string][]string{
	"method": {"get", "PUT", "TRACE"}, "timeout": {"1h30m3s", "90", "0", "soon"}, "retries": {"0", "7", "-1", "x"},
	"retry-delay": {"1000*(1+retried)", "7", "retries", "1+"}, "delay": {"1d10h30m", "0", "5w"}, "not-before": {"1763730000", "x", "-1"},
	"label": {"a, b,,c", "", ","}, "redact-fields": {"body, header[x-key]", "headers", "url"}, "queue-name": {"q.1"},
	"flow-control-key": {"k", ""}, "flow-control-value": {"rate=10, parallelism = 2 ,period=1m", "parallelism=3,", "period=5", "rate=0", "speed=1", ""},
	"deduplication-id": {"d", "a:b"}, "content-based-deduplication": {"True", "false", "x"},
	"forward-x-one": {"1"}, "forward-upstash-workflow-runid": {"r"},
	"callback": {"https://cb.example/x", "nowhere"}, "failure-callback": {"http://cb.example"}, "unknown": {"x"},
}

// ofCallback are settings that callbacks have too.
var ofCallback = []string{"method", "timeout", "retries", "retry-delay", "delay", "label", "redact-fields", "forward-x-one", "flow-control-key", "flow-control-value"}

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

func byHeaders(f fields) (p queue.Publication, err error) {
	if p.Options, err = readOptions(f, nil); err != nil {
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
