package messages

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/acl"
)

// Target is the target of a request, taken apart. Nothing of it is decoded: a destination in a path must arrive as it was sent.
type Target struct {
	// DB is the database that the path names, empty if it names none.
	DB string
	// Path is the path after the database, without its first slash; Query is the part after the question mark.
	Path, Query string
	// Role is that of the request's token, once it was judged.
	Role acl.Role

	segments []string // of Path after its root, once they were asked for
}

// Root returns the first segment of the path: v2 or llm.
func (t *Target) Root() string {
	root, _, _ := strings.Cut(t.Path, "/")
	return root
}

// Rest returns the path after its second segment: of /v2/publish/https://example.com the destination.
func (t *Target) Rest() string {
	_, rest, _ := strings.Cut(t.Path, "/")
	_, rest, _ = strings.Cut(rest, "/")
	return rest
}

// Segment returns the segment of the path that follows the root and i others, still escaped; empty if there is none. Slashes
// around the part after the second segment do not count.
func (t *Target) Segment(i int) string {
	if list := t.Segments(); i < len(list) {
		return list[i]
	}
	return ""
}

// Segments returns the segments of the path that follow the root, still escaped.
func (t *Target) Segments() []string {
	if t.segments == nil {
		_, path, _ := strings.Cut(t.Path, "/")
		first, rest, _ := strings.Cut(path, "/")
		if t.segments = []string{first}; trimRest(first, rest) != "" {
			t.segments = append(t.segments, strings.Split(trimRest(first, rest), "/")...)
		}
	}
	return t.segments
}

// Plain returns the unescaped Segment(i).
func (t *Target) Plain(i int) string { return unescapePath(t.Segment(i)) }

// ofWorkflows are the second segments of the paths of workflows, in lower case.
var ofWorkflows = []string{"workflows", "trigger", "wait", "waiters", "notify"}

// trimRest removes the slashes at the end of the part of a path after its second segment. If the path is not one of
// workflows it also removes those at its beginning.
func trimRest(second, rest string) string {
	rest = strings.TrimRight(rest, "/")
	if rest == "" || rest[0] != '/' || slices.Contains(ofWorkflows, strings.ToLower(second)) {
		return rest
	}
	return strings.TrimLeft(rest, "/")
}

// RoutingPath returns the path by which the router finds the row of a path that begins with /v2 or /llm and names no
// database: in lower case, and without slashes around what follows the second segment.
func RoutingPath(path string) string {
	root, rest, _ := strings.Cut(path[1:], "/")
	first, rest, _ := strings.Cut(rest, "/")
	switch trimmed := trimRest(first, rest); {
	case trimmed == "":
		path = "/" + root + "/" + first
	case trimmed != rest:
		path = "/" + root + "/" + first + "/" + trimmed
	}
	return strings.ToLower(path)
}
