package workflows

import (
	"github.com/trireme-dev/trireme/fsm/workflow"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// stepError is an attempt that failed.
type stepError struct {
	Status  int                 `json:"status"`
	Headers map[string][]string `json:"headers,omitempty"`
	Body    string              `json:"body"`
	Error   string              `json:"error,omitempty"`
	Time    int64               `json:"time"`
}

func attemptErrors(show view.Redactor, list []workflow.Attempt) []stepError {
	out := make([]stepError, 0, len(list))
	for i := range list {
		out = append(out, attemptError(show, &list[i]))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func attemptError(show view.Redactor, a *workflow.Attempt) stepError {
	return stepError{Status: a.Status, Headers: view.Header(a.Header), Body: show.Answer(a.Body), Error: a.Error, Time: a.At}
}
