package messages

import (
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/env"
)

// TestNewOptionsNeedTheirLevel: below it nothing of them gets into the log, by whichever way they are read.
func TestNewOptionsNeedTheirLevel(t *testing.T) {
	for name, value := range map[string]string{
		"Svc-Debounce": "key=k,delay=5s", "Upstash-Batch": "key=k", "Svc-Singleton": "key=k,mode=skip", "Svc-On-Failure": "pause",
	} { // unordered: each is judged on its own
		for _, level := range []env.Level{env.Files - 1, env.Files} {
			p := parser
			p.Level = func() env.Level { return level }
			h := headers(name, value)
			_, _, published := p.publication(&call{destination: "https://example.com", header: h})
			_, triggered := p.ReadHeaders(h).Options()
			for _, err := range []error{published, triggered} {
				if good := level >= env.Files; good != (err == nil) || err != nil && !strings.Contains(err.Error(), "feature level") {
					t.Errorf("%s at level %d: %v", name, level, err)
				}
			}
		}
	}
}
