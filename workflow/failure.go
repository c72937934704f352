package workflow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// FailedRun is a run that has failed.
type FailedRun struct {
	RunID string
	// Status and Message are those of the last answer to a delivery, ResponseHeader is its header.
	Status         int
	Message        string
	ResponseHeader http.Header
	// Header has the headers that the trigger forwards.
	Header http.Header
	// DeadLetter is the id by which the run is resumed or restarted.
	DeadLetter string
}

// Failure is the argument of a failure function.
type Failure[In any] struct {
	FailedRun
	Input In // what the run was triggered with
}

type rawFailure struct {
	FailedRun
	payload []byte
}

// failed calls the failure function of a run.
func (h *handler) failed(w http.ResponseWriter, r *http.Request, definition Definition, body []byte) (answer any, err error) {
	var in struct {
		Status           int
		Header           http.Header
		Body, SourceBody []byte
		DlqID            string
		WorkflowRunID    string
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fmt.Errorf("workflow: the failure of a run: %w", err)
	}
	var s said
	if json.Unmarshal(in.Body, &s) != nil || s.Message == "" {
		s.Message = string(in.Body)
	}
	f := &rawFailure{payload: in.SourceBody}
	f.FailedRun = FailedRun{
		RunID: cmp.Or(in.WorkflowRunID, r.Header.Get(header+"Runid")), Status: in.Status, Message: s.Message, ResponseHeader: in.Header,
		Header: forwarded(r.Header), DeadLetter: in.DlqID,
	}
	result, err := callFailed(r, definition, f)
	if errors.Is(err, errNoFailureFunction) {
		w.Header().Set(header+"Failure-Callback-Notfound", "true")
		return map[string]string{"workflowRunId": f.RunID, "finishCondition": "failure-callback-undefined"}, nil
	}
	return map[string]string{"result": result}, err
}

// callFailed calls a failure function. Its panic is an error.
func callFailed(r *http.Request, definition Definition, f *rawFailure) (result string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanic(v)
		}
	}()
	return definition.failed(withTrace(r), f)
}
