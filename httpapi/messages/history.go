package messages

import (
	"net/http"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// reach says how far back a history goes. Oldest is null if there is none; a retention of 0 = unlimited.
type reach struct {
	Oldest      *int64      `json:"oldest"`
	BoundedBy   queue.Bound `json:"boundedBy"`
	RetentionMs int64       `json:"retentionMs"`
	Bytes       int64       `json:"bytes"`
	MaxBytes    int64       `json:"maxBytes"`
}

func reachOf(r queue.Reach) reach {
	n := reach{BoundedBy: r.Bound, RetentionMs: r.Age, Bytes: r.Used, MaxBytes: r.Bytes}
	if r.Oldest != 0 {
		n.Oldest = &r.Oldest
	}
	return n
}

// history answers /v2/history: how far back events and runs can be listed, and why no further.
func (re *request) history() error {
	var events, runs queue.Reach
	_, err := re.Engine.Read(re.r.Context(), fsm.Reading{}, func(v *fsm.View) {
		events, runs = v.Messages().Reach(v.Now()), v.Workflows().Reach(v.Now())
	})
	if err == nil {
		re.answer(http.StatusOK, map[string]reach{"events": reachOf(events), "runs": reachOf(runs)})
	}
	return err
}
