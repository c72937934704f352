package workflows

import (
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// resumeRun has a run go on that is paused at the end of its retries; workflowCreatedAt tells apart runs of one id.
func (re *request) resumeRun() (*run, error) {
	created, err := re.readCreated()
	if err != nil {
		return nil, err
	}
	out, err := propose(re, fsm.ResumeRun, workflow.RunChange{RunID: re.Plain(2), Created: created})
	if err != nil {
		return nil, err
	}
	return &run{out.ID, out.Created}, nil
}
