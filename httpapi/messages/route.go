package messages

import (
	"strings"
	"sync"
)

// Route is the pattern of a request's path as the description has it, such as /v2/publish/{destination}. Logs name it instead
// of the path, in which destinations with their credentials, webhooks and names of events stand.
func Route(path string) string {
	path, _, _ = strings.Cut(path, "?")
	prefix, segments := "", strings.Split(strings.TrimPrefix(path, "/"), "/")
	if segments[0] == "db" && len(segments) > 2 {
		prefix, segments = "/db/{database}", segments[2:]
	}
	best, words := "/…", -1
	for _, pattern := range patterns() {
		if n := literals(pattern, segments); n > words {
			best, words = "/"+strings.Join(pattern, "/"), n
		}
	}
	return prefix + best
}

// patterns are the paths of the description, in segments.
var patterns = sync.OnceValue(func() (list [][]string) {
	for line := range strings.Lines(string(openAPI)) {
		if path, is := strings.CutPrefix(strings.TrimRight(line, ":\n"), "  /"); is {
			list = append(list, strings.Split(path, "/"))
		}
	}
	return list
})

// literals counts the segments that a pattern has as they are; -1 if it is another path. A parameter at the end takes what is
// left, as destinations have slashes.
func literals(pattern, segments []string) (n int) {
	if len(segments) < len(pattern) {
		return -1
	}
	for i, want := range pattern {
		switch {
		case !strings.HasPrefix(want, "{"):
			if !strings.EqualFold(want, segments[i]) {
				return -1
			}
			n++
		case i == len(pattern)-1:
			return n
		}
	}
	if len(segments) > len(pattern) {
		return -1
	}
	return n
}
