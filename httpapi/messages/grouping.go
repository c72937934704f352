package messages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/httpapi/view"
)

// grouping is how an answer is grouped.
type grouping string

// The groupings: of events by their messages, of messages as they are now, of events by time and state, of dead letters by what went
// wrong.
const (
	byMessageID grouping = "messageId"
	byMessage   grouping = "message"
	byTime      grouping = "time"
	byCause     grouping = "cause"
)

// groups reads groupBy of a list that can be grouped in some ways.
func groups(ways ...grouping) func(*listQuery, string, []string) error {
	return func(lq *listQuery, name string, list []string) error {
		way := grouping(view.First(list))
		if way != "" && !slices.Contains(ways, way) {
			names := make([]string, len(ways))
			for i, w := range ways {
				names[i] = string(w)
			}
			return Invalid("invalid %s %q: expected %s", name, way, strings.Join(names, " or "))
		}
		lq.groupBy = way
		return nil
	}
}

func (lq *listQuery) readSpan(name string, list []string) error {
	n, err := strconv.ParseInt(view.First(list), 10, 64)
	if err != nil || n < 1 {
		return Invalid("invalid %s %q: expected a number of milliseconds", name, view.First(list))
	}
	lq.span = n
	return nil
}
