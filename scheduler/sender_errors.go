package scheduler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/scheduler/egress"
)

// isExhausted says whether this node, not the destination, kept a connection from being
// made. A lack of ports is not told apart from an address that this host does not have.
func isExhausted(err error) bool {
	for _, own := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, own) {
			return true
		}
	}
	return false
}

// failureText returns why there is no answer, for the readers of events.
func failureText(err error, p reply, a *queue.Attempt, timed context.Context) string {
	var resolve *net.DNSError
	text := err.Error()
	switch {
	case isExhausted(err):
		text = "the node that delivers could open no connection: " + text
	case errors.Is(timed.Err(), context.DeadlineExceeded):
		text = fmt.Sprintf("timeout: no complete answer within %v", time.Duration(a.Timeout)*time.Millisecond)
	case errors.Is(err, egress.ErrRefused):
		text = refusal(err)
	case errors.As(err, &resolve):
		text = fmt.Sprintf("the host %q could not be resolved: %s", resolve.Name, resolve.Err)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		text = "the connection ended before the answer did"
	}
	if p.status != 0 {
		text = fmt.Sprintf("answered %d, but the body broke off: %s", p.status, text)
	}
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "")
	}
	return text
}

// refusal is the part of an error that names the rule, without the layers around it.
func refusal(err error) string {
	text := err.Error()
	if i := strings.Index(text, egress.ErrRefused.Error()); i > 0 {
		return text[i:]
	}
	return text
}
