package messages

import (
	"fmt"
	"net/http"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// Error is a refusal with its HTTP status. The client reads the text.
type Error struct {
	Status int
	Text   string
}

func (e *Error) Error() string { return e.Text }

// invalid refuses a request whose field can't be right; the text names the field.
func invalid(format string, args ...any) *Error {
	return &Error{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// The refusals whose texts clients know.
var (
	errNoDestination = invalid("a non-empty destination must be provided")
	errScheme        = invalid("invalid destination url: endpoint has invalid scheme, add http:// or https://")
	errDedupID       = invalid(queue.DedupRule)
)
