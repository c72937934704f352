package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// deliveryLog prints a line for each delivery of a development server and its outcome.
type deliveryLog struct {
	out   io.Writer
	color bool
	mu    sync.Mutex // one line at a time
}

// newDeliveryLog prints in colour on a terminal, unless NO_COLOR is set.
func newDeliveryLog(out io.Writer) *deliveryLog {
	return &deliveryLog{out: out, color: isTerminal(out) && os.Getenv("NO_COLOR") == ""}
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// The colours of outcomes.
const (
	green = "\x1b[32m"
	red   = "\x1b[31m"
	plain = "\x1b[0m"
)

// delivered prints one attempt.
func (l *deliveryLog) delivered(a *queue.Attempt, n *queue.Result) {
	outcome, color := deliveryOutcome(n)
	if l.color {
		outcome = color + outcome + plain
	}
	retry := ""
	if a.Retried > 0 {
		retry = fmt.Sprintf(" (retry %d)", a.Retried)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "%s %s%s -> %s, %d ms\n", deliveryTarget(a), a.ID, retry, outcome, n.Took)
}

// deliveryTarget is the method and the URL of an attempt; that of a workflow is the run's.
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

// deliveryOutcome is the status, or why there was none, and its colour.
func deliveryOutcome(n *queue.Result) (text, color string) {
	switch status := n.Response.Status; {
	case status >= 200 && status <= 299:
		return fmt.Sprintf("%d %s", status, http.StatusText(status)), green
	case status != 0:
		return fmt.Sprintf("%d %s%s", status, http.StatusText(status), nextTry(n)), red
	case strings.Contains(n.Error, "connection refused"):
		return "nothing listens there (" + n.Error + ")" + nextTry(n), red
	}
	return n.Error + nextTry(n), red
}

// nextTry is when a failed delivery is tried again, should it have a retry left.
func nextTry(n *queue.Result) string {
	wait := (time.Duration(n.RetryDelay) * time.Millisecond).Round(time.Millisecond)
	return fmt.Sprintf("; the next try, if any is left, in %s", wait)
}
