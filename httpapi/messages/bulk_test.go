package messages

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// TestBulkGivesUpWaiting: a request that has waited for long enough says that the action goes on.
func TestBulkGivesUpWaiting(t *testing.T) {
	steps := 0
	k := &Bulk{
		Count: func() (int, error) { return 7, nil },
		Ask: func(n queue.BulkRequest) (queue.BulkAction, error) {
			steps++
			return queue.BulkAction{ID: "bulk_1", Total: n.Matched}, nil
		},
	}
	a := New(Options{BulkWait: time.Nanosecond})
	r := httptest.NewRequest(http.MethodDelete, "/v2/messages", nil)
	var refused *Error
	if err := a.StartBulk(httptest.NewRecorder(), r, k, false); !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests {
		t.Errorf("%v", err)
	}
	w := httptest.NewRecorder()
	if err := a.StartBulk(w, r, k, true); err != nil || w.Code != http.StatusAccepted || w.Body.String() != `{"cancelled":7,"actionId":"bulk_1"}` {
		t.Errorf("%v %d %s", err, w.Code, w.Body)
	}
}
