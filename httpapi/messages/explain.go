package messages

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/view"
	"github.com/trireme-dev/trireme/internal/plural"
)

// explanation says why a message, a queue or a flow-control key is in its state.
type explanation struct {
	Reason string `json:"reason"`
	Text   string `json:"text"`
	// Since is the time at which the waiting began, Next the time at which it ends at the latest, or may end; both in
	// unix milliseconds. Without Next only an event ends it.
	Since int64 `json:"since,omitempty"`
	Next  int64 `json:"next,omitempty"`
	// Behind is the message that has to come first, Ahead the number of messages that come first.
	Behind string `json:"behind,omitempty"`
	Ahead  int    `json:"ahead,omitempty"`
	// LastAttempt is the event of the attempt that ended last, if it is still kept.
	LastAttempt *event `json:"lastAttempt,omitempty"`
	// Attempts counts the attempts that were made or are under way, Allowed those that may be made.
	Attempts int `json:"attempts,omitempty"`
	Allowed  int `json:"allowed,omitempty"`
	// Answer is the body of the last answer as text, Error why there was none.
	Answer string `json:"answer,omitempty"`
	Error  string `json:"error,omitempty"`
	DlqID  string `json:"dlqId,omitempty"`
	// Queue and FlowControl name what the message waits for, Holders the messages that hold it.
	Queue       string          `json:"queueName,omitempty"`
	FlowControl *explainedLimit `json:"flowControl,omitempty"`
	Holders     []string        `json:"holders,omitempty"`
	// Standing is there where priorities, costs or tenants count.
	Standing *lineStanding `json:"standing,omitempty"`
	// Gather says with what the message is gathered.
	Gather *explainedGather `json:"gather,omitempty"`
	// Hint says what to look at, Command what to enter to make it go on.
	Hint    string `json:"hint,omitempty"`
	Command string `json:"command,omitempty"`
}

// explainedLimit is a flow-control key with its limits.
type explainedLimit struct {
	Key         string `json:"key"`
	Parallelism int    `json:"parallelism,omitempty"`
	Rate        int    `json:"rate,omitempty"`
	Period      int64  `json:"period,omitempty"` // in seconds
	// Burst is the most tokens of the key's bucket, Tokens what it holds now, less than 0 if it owes some.
	Burst  int  `json:"burst,omitempty"`
	Tokens *int `json:"tokens,omitempty"`
}

// explainedGather is the key by which a message takes in publications, or by which one at a time is live.
type explainedGather struct {
	Mode string `json:"mode"`
	Key  string `json:"key"`
	// Publications counts those taken in so far, while others may come; Size is the most of a batch.
	Publications int `json:"publications,omitempty"`
	Size         int `json:"size,omitempty"`
}

// maxExplained is the most bytes of an answer that an explanation shows.
const maxExplained = 4 << 10

// renderExplanation shows what is known of a message, or, without its id, of a queue or a key.
func (re *request) renderExplanation(x *queue.Explanation, id string) *explanation {
	n := &explanation{Reason: x.Reason.String(), Text: x.Reason.Text(), Since: x.Since, Next: x.Next, Ahead: x.Ahead}
	if !x.Behind.IsZero() {
		n.Behind = x.Behind.String()
	}
	if x.Last != nil {
		n.LastAttempt = renderEvent(x.Last, re.Parser.SpecLiteral, view.All)
	}
	n.Attempts, n.Allowed, n.Queue = x.Attempts, x.Allowed, x.Queue
	for _, id := range x.Holders {
		n.Holders = append(n.Holders, id.String())
	}
	if f := x.Flow; f != nil {
		n.FlowControl = &explainedLimit{Key: f.Key, Parallelism: f.Parallelism, Rate: f.Rate}
		if f.Rate > 0 {
			n.FlowControl.Period = max(f.Period/1000, 1)
		}
		if f.Burst > 0 {
			n.FlowControl.Burst, n.FlowControl.Tokens = f.Burst, &x.Tokens
		}
	}
	if g := x.Gather; g != nil {
		n.Gather = &explainedGather{Mode: g.Mode.String(), Key: g.Key, Publications: x.Gathered, Size: g.Size}
	}
	n.lastAnswer(x)
	n.advise(x, id)
	n.renderStanding(x)
	return n
}

// lastAnswer says how the last attempt went: the dead letter knows it longer than the events do.
func (e *explanation) lastAnswer(x *queue.Explanation) {
	var p *queue.Response
	switch {
	case x.Dead != nil:
		p, e.Error, e.DlqID = &x.Dead.Response, x.Dead.Error, x.Dead.String()
	case x.Last != nil:
		p, e.Error = x.Last.Response, x.Last.Error
	}
	if p == nil {
		return
	}
	e.Answer = view.Redactor{Trim: maxExplained}.Answer(p.Body)
	switch status := p.Status; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Hint = fmt.Sprintf("the destination answered %d: if it verifies signatures, compare its two signing keys with those of GET /v2/keys, and its clock", status)
	case strings.Contains(e.Error, addressRefused):
		e.Hint = "the address is outside the public Internet: --egress-allow opens its network, on every node"
	}
}

// deadText says how the attempts of a dead message ended.
func deadText(x *queue.Explanation) string {
	how := "without an answer"
	if status := x.Dead.Response.Status; status != 0 {
		how = fmt.Sprintf("with status %d", status)
	}
	if status := x.Dead.Response.Status; status/100 == 2 { // the answer was refused
		how = "because " + x.Dead.Error
	}
	switch {
	case x.Attempts < x.Allowed:
		return fmt.Sprintf("attempt %d of %d failed %s, which asked for no retry", x.Attempts, x.Allowed, how)
	case x.Attempts == 1:
		return "its only attempt failed, " + how
	}
	return fmt.Sprintf("all %d attempts failed, the last one %s", x.Attempts, how)
}

// advise says what makes a message go on that would not go on by itself.
func (e *explanation) advise(x *queue.Explanation, id string) {
	switch {
	case x.Dead != nil:
		e.Reason = failedReason
		e.Text = deadText(x)
		e.Command = "trireme dlq retry " + e.DlqID
	case x.Reason == queue.Stopped && x.Queue != "":
		e.Text = fmt.Sprintf("its attempts are used up, and the queue %s is paused; it goes on with all its retries when that is resumed", x.Queue)
		e.Command = "trireme queues resume " + shellWord(x.Queue)
	case x.Reason == queue.Stopped:
		e.Text = fmt.Sprintf("its attempts are used up, and the flow-control key %s is paused; it goes on with all its retries when that is resumed", x.Flow.Key)
		e.Command = "trireme flow resume " + shellWord(x.Flow.Key)
	case x.Reason == queue.QueuePaused:
		e.Text = fmt.Sprintf("the queue %s is paused", x.Queue) + stopText(x)
		e.Command = "trireme queues resume " + shellWord(x.Queue)
	case x.Reason == queue.FlowPaused:
		e.Text = fmt.Sprintf("the flow-control key %s is paused", x.Flow.Key) + stopText(x)
		e.Command = "trireme flow resume " + shellWord(x.Flow.Key)
	case x.Reason == queue.Debounced:
		e.Text = fmt.Sprintf("it is debounced: the last of %s of its key counts so far", plural.Of(x.Gathered, "publication"))
		e.Command = "trireme messages run " + id
	case x.Reason == queue.Gathering:
		e.Text = fmt.Sprintf("it gathers publications of its key: %d of %d", x.Gathered, x.Gather.Size)
		e.Command = "trireme messages run " + id
	case x.Reason == queue.BehindSingleton:
		e.Text = "another message of the singleton " + x.Gather.Key + " comes first"
	case x.Reason == queue.Delay && x.Queue == "", x.Reason == queue.Backoff && x.Queue == "":
		if id != "" {
			e.Command = "trireme messages run " + id
		}
	}
}

// stopText names the message that has paused what is waited for at the end of its retries.
func stopText(x *queue.Explanation) string {
	if x.StoppedBy.IsZero() {
		return ""
	}
	return ": the attempts of " + x.StoppedBy.String() + " are used up"
}

// addressRefused is in the error of a delivery whose address scheduler/egress refused.
const addressRefused = "destination not allowed"

// failedReason is the reason of a message that is a dead letter.
const failedReason = "failed"

// shellWord returns a name as one word of a shell.
func shellWord(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune(plainShell, r) }) || text == "" {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

const plainShell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@"

// explainer renders what find explains: nil unless an explanation is wanted and known. It reads what may be on the disk, so on a view
// that writes wait for it answers nil, and the view is run again.
type explainer func(v *fsm.View, find func() (queue.Explanation, bool)) *explanation

// explainer reads the parameter explain of a read of one thing. id is that of a message, empty for a queue or a key.
func (re *request) explainer(id string) (explainer, error) {
	values, err := queryValues(re.Query)
	if err != nil {
		return nil, err
	}
	wanted, err := askedFor(values, "explain")
	if err != nil {
		return nil, err
	}
	return func(v *fsm.View, find func() (queue.Explanation, bool)) *explanation {
		if !wanted || !v.OnFork() {
			return nil
		}
		x, known := find()
		if !known {
			return nil
		}
		return re.renderExplanation(&x, id)
	}, nil
}
