package messages

import (
	"net/url"
	"strconv"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// explanation says why a message, a queue or a flow-control key is where it is.
type explanation struct {
	Reason string `json:"reason"`
	Text   string `json:"text"`
	// Since is when the waiting began, Next when it ends at the latest, or may end; both
	// in unix milliseconds. Without Next it takes an event, not a time.
	Since int64 `json:"since,omitempty"`
	Next  int64 `json:"next,omitempty"`
	// Behind is the message that has to come first, Ahead how many come first.
	Behind string `json:"behind,omitempty"`
	Ahead  int    `json:"ahead,omitempty"`
	// LastAttempt is the event of the attempt that ended last, if it is still kept.
	LastAttempt *event `json:"lastAttempt,omitempty"`
}

func (q *request) renderExplanation(x *queue.Explanation) *explanation {
	n := &explanation{Reason: x.Reason.String(), Text: x.Reason.Text(), Since: x.Since, Next: x.Next, Ahead: x.Ahead}
	if !x.Behind.IsZero() {
		n.Behind = x.Behind.String()
	}
	if x.Last != nil {
		n.LastAttempt = renderEvent(x.Last, q.Parser.SpecLiteral)
	}
	return n
}

// wantsExplanation reads the parameter explain of a read of one thing.
func (q *request) wantsExplanation() (bool, error) {
	values, err := url.ParseQuery(q.query)
	if err != nil {
		return false, invalid("invalid query: %s", err)
	}
	text := values.Get("explain")
	yes, err := strconv.ParseBool(text)
	if text != "" && err != nil {
		return false, invalid("invalid explain %q: true or false is wanted", text)
	}
	return yes, nil
}
