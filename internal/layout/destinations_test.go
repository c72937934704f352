package layout

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readers are the files that may read a destination, each by httpurl.Read.
var readers = []string{
	"cmd/trireme/deliveries.go", "fsm/queue/config.go", "fsm/queue/redact.go", "httpapi/messages/destination.go", "httpapi/messages/filters.go",
	"httpapi/messages/options.go", "scheduler/sender.go",
}

// parsers are the files of packages that have to do with destinations which parse other URLs, or of a destination that
// httpurl.Read has read.
var parsers = []string{"scheduler/target.go", "cmd/trireme/deliveries.go", "cmd/trireme/import.go", "cmd/trireme/signon.go"}

// TestDestinationsHaveOneReader: where messages and workflows are published and delivered, no URL is read but by httpurl.Read,
// and only where these lists say.
func TestDestinationsHaveOneReader(t *testing.T) {
	var reading []string
	for _, folder := range []string{"fsm", "httpapi/messages", "httpapi/workflows", "scheduler", "cmd/trireme", "resp"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			if strings.Contains(string(text), "httpurl.Read(") {
				reading = append(reading, filepath.ToSlash(name))
			}
			for _, call := range []string{"url.Parse(", "url.ParseRequestURI(", "http.NewRequest("} {
				if strings.Contains(string(text), call) && !slices.Contains(parsers, filepath.ToSlash(name)) {
					t.Errorf("%s calls %s): read destinations by httpurl.Read", name, call)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(reading)
	if !slices.Equal(reading, readers) {
		t.Errorf("destinations are read in\n%q, want\n%q", reading, readers)
	}
}
