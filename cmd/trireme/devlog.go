package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// deliveryLog prints a line for each delivery of a development server and its outcome.
type deliveryLog struct {
	out   io.Writer
	color bool
	omit  string     // the base URL of destinations without lines, "" for none
	mu    sync.Mutex // one line at a time
}

// newDeliveryLog prints in colour on a terminal, unless NO_COLOR is set.
func newDeliveryLog(out io.Writer, omit string) *deliveryLog {
	return &deliveryLog{out: out, omit: omit, color: cli.IsTerminal(out) && os.Getenv("NO_COLOR") == ""}
}

// The colours of outcomes.
const (
	green = "\x1b[32m"
	red   = "\x1b[31m"
	plain = "\x1b[0m"
)

// delivered prints one attempt, and the disposition of a message that was not delivered.
func (l *deliveryLog) delivered(a *queue.Attempt, result *queue.Result, disposition queue.Disposition) {
	if l.omit != "" && strings.HasPrefix(a.Content.URL, l.omit+"/") {
		return
	}
	outcome, color := deliveryOutcome(result, disposition)
	if l.color {
		outcome = color + outcome + plain
	}
	retry := ""
	if a.Retried > 0 {
		retry = fmt.Sprintf(" (retry %d)", a.Retried)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "%s %s%s -> %s, %d ms%s\n", deliveryTarget(a), a.ID, retry, outcome, result.Took, nextAttempt(a, result, disposition))
}

// deliveryTarget returns the method and the URL of an attempt; for a workflow, those of the run.
func deliveryTarget(a *queue.Attempt) string {
	method := a.Content.Method
	switch {
	case a.Content.URL == "":
		return "workflow"
	case method == "":
		method = http.MethodPost
	}
	return method + " " + a.Content.URL
}

// deliveryOutcome returns the status, or the reason why there was none, and its colour.
func deliveryOutcome(result *queue.Result, disposition queue.Disposition) (text, color string) {
	switch status := result.Response.Status; {
	case status >= 200 && status <= 299 && (disposition.State == queue.Retry || disposition.State == queue.Failed):
		return fmt.Sprintf("%d %s, but its commands were refused", status, http.StatusText(status)), red
	case status >= 200 && status <= 299:
		return fmt.Sprintf("%d %s", status, http.StatusText(status)), green
	case status != 0:
		return fmt.Sprintf("%d %s", status, http.StatusText(status)), red
	case strings.Contains(result.Error, "connection refused"):
		return "nothing listens there (" + result.Error + ")", red
	}
	return result.Error, red
}

// nextAttempt returns the time of a message's next attempt, or the place where a failed message is kept; "" after a delivery.
func nextAttempt(a *queue.Attempt, result *queue.Result, disposition queue.Disposition) string {
	switch {
	case disposition.Stale:
		return "; this result came too late and does not count"
	case disposition.State == queue.Retry:
		wait := (time.Duration(min(max(result.RetryDelay, 0), queue.MaxRetryDelay)) * time.Millisecond).Round(time.Millisecond)
		return fmt.Sprintf("; retry %d in %s", a.Retried+1, wait)
	case disposition.State == queue.Canceled:
		return "; canceled, no retry"
	case disposition.State == queue.Failed && len(a.Content.Run) > 0: // a run's messages have no dead letters of their own
		return "; no retry is left"
	case disposition.State == queue.Failed:
		return "; no retry is left: it is a dead letter, see trireme messages explain " + a.ID.String()
	}
	return ""
}
